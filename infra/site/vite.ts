/** `node infra/site/vite.ts <folder>`: builds the administration app into it, and says of which files: NOTICE names them. */

import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { declarations } from './declarations.ts';

const [, , outDir] = process.argv;
if (!outDir) throw new Error('Give a folder for the app');
// What waits for the build holds the other end of its input: a `kill -9` of that ends the build, too.
if (process.stdin instanceof Socket)
  process.stdin
    .on('close', () => process.exit(1))
    .resume()
    .unref();
// A test runner says NODE_ENV=test, and React would come with all that helps while one writes it.
process.env.NODE_ENV = 'production';
const asset = await declarations();
const used = new Set<string>();
const files = (): Plugin => ({
  name: 'files',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type === 'chunk') for (const id of Object.keys(chunk.modules)) used.add(id);
    }
  },
});
const notice = readFileSync(new URL('../../NOTICE', import.meta.url), 'utf8');
await build({
  root: fileURLToPath(new URL('../../web', import.meta.url)),
  configFile: false,
  base: '/app/',
  logLevel: 'warn',
  define: { 'import.meta.env.DECLARATIONS': JSON.stringify(`/app/${asset.fileName}`) },
  plugins: [
    {
      name: 'declarations',
      generateBundle() {
        this.emitFile({ type: 'asset', ...asset });
        this.emitFile({ type: 'asset', fileName: 'NOTICE.txt', source: notice });
      },
    },
    files(),
  ],
  worker: { format: 'es', plugins: () => [files()] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of its pages allows no inline script and no data: address but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The compiler of the Bots' editor, which is loaded when it is used.
    chunkSizeWarningLimit: 4_000,
  },
});
process.stdout.write(`${[...used].join('\n')}\n`);
