/** `node infra/site/vite.ts <folder>`: builds the administration app into it. */

import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [, , outDir] = process.argv;
if (!outDir) throw new Error('Give a folder for the app');
await build({
  root: fileURLToPath(new URL('../../web', import.meta.url)),
  configFile: false,
  base: '/app/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2023',
    // The policy of its pages allows no inline script and no data: address but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
