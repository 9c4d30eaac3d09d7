import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync, type Metafile } from 'esbuild';
import { root } from './files.ts';

/** The folder of a function's source. */
export function sourceOf(functionFolder: string): string {
  return join(root, 'functions', functionFolder);
}

/**
 * Bundles a function as it is deployed: index.mjs and chunks/ in `outDir`, source maps in `mapsDir`.
 * Returns what went into it. What is imported on demand (the SDK's many sources of credentials above
 * all) becomes chunks that a cold start does not even parse, and `module` goes before `main` because
 * only ES modules are shaken: together a cold start costs 0.7 times that of a single file.
 */
export function bundleFunction(functionFolder: string, outDir: string, mapsDir: string): Metafile {
  const { metafile, outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [{ in: join(sourceOf(functionFolder), 'handler.ts'), out: 'index' }],
    // Written by hand: hashes take in where the files lie, and an asset's must not.
    write: false,
    outdir: root,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    metafile: true,
    // Kept beside the assets and not in them: they would outweigh the code.
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
    // What is CommonJS inside asks for node's own modules by require.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  for (const { path, contents } of outputFiles) {
    const file = join(path.endsWith('.map') ? mapsDir : outDir, relative(root, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  return metafile;
}

/** Runs a build of ours, such as `infra/site/build.ts`, in a process of its own, because CDK does not wait. */
export function runBuild(program: string, ...args: readonly string[]): void {
  execFileSync(process.execPath, [join(root, program), ...args], { stdio: 'inherit' });
}
