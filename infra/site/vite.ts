/** `node infra/site/vite.ts <folder>`: builds the administration app into it. */

import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
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
      },
    },
  ],
  worker: { format: 'es' },
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
