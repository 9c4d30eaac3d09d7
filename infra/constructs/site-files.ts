import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Puts the administration app into an asset: built by a process of its own, because CDK does not wait. */
export function addSite(assetDir: string): void {
  const main = fileURLToPath(new URL('../site/main.ts', import.meta.url));
  execFileSync(process.execPath, [main, join(assetDir, 'site')], { stdio: 'inherit' });
}
