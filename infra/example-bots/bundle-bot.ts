import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { fetchPackages, nodeModules } from '../../shared/sandbox/modules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface BundledBot {
  code: string;
  /** Files and packages that went into it. */
  bundled: string[];
  /** Files that the Bot imports and that are not there: empty in the bundle. */
  missing: string[];
}

/** One file as authors make it with a bundler; what cannot be found stays an import, which `$deploy` refuses. */
export async function bundleBot(file: string): Promise<BundledBot> {
  const bundled: string[] = [];
  const missing: string[] = [];
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: [
      ...['@medplum/core', '@medplum/fhirtypes', 'hl7-standard', ...fetchPackages],
      ...nodeModules.flatMap((name) => [name, `node:${name}`]),
    ],
    nodePaths: [`${root}/node_modules`],
    write: false,
    logLevel: 'silent',
    plugins: [lenient(file, bundled, missing)],
  });
  return { code: outputFiles[0]?.text ?? '', bundled, missing };
}

/** What is not there is no reason to stop: an empty file, or an import that is left standing. */
function lenient(file: string, bundled: string[], missing: string[]): Plugin {
  return {
    name: 'lenient',
    setup({ onResolve, onLoad, resolve: find }) {
      onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind === 'entry-point' || pluginData === 'asked') return undefined;
        const found = await find(path, { kind, importer, resolveDir, pluginData: 'asked' });
        if (found.errors.length === 0) {
          if (!found.external && importer === file) bundled.push(path);
          return found;
        }
        if (!path.startsWith('.')) return { path, external: true };
        if (!existsSync(resolve(dirname(importer), path))) missing.push(path);
        return { path, namespace: 'missing' };
      });
      onLoad({ filter: /.*/, namespace: 'missing' }, () => ({
        contents: 'module.exports = {}',
        loader: 'js',
      }));
    },
  };
}
