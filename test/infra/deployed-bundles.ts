import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { HouseFunction } from '../../infra/constructs/house-function.ts';
import { LockedInvoker } from '../../infra/constructs/locked-invoker.ts';
import { addSite } from '../../infra/constructs/site-files.ts';

export interface Bundles {
  /** Holds a folder for each function, named like it, with what Lambda would unpack. */
  root: string;
  remove(): Promise<void>;
}

interface Asset {
  displayName: string;
  source: { path: string };
}

/**
 * Bundles functions, and the invoker for this machine’s processor, with the constructs that deploy
 * them, into a folder that has no node_modules above it.
 */
export async function deployedBundles(functions: readonly string[]): Promise<Bundles> {
  const temporary = await mkdtemp(join(tmpdir(), 'portico-bundles-'));
  const app = new App({ outdir: join(temporary, 'assembly') });
  const stack = new Stack(app, 'bundles');
  const alarms = new Topic(stack, 'Alarms');
  for (const folder of functions) {
    const limits = { timeoutSeconds: 29, memoryMb: 1024 };
    const files = folder === 'site' ? { addFiles: addSite } : {};
    const props = { folder, description: folder, impact: 'None.', ...limits, alarms, ...files };
    new HouseFunction(stack, folder, props);
  }
  new LockedInvoker(stack, 'invoker', { alarms, platform: `linux-${process.arch}` as 'linux-x64' });
  app.synth();

  const manifest = JSON.parse(await readFile(join(temporary, 'assembly/bundles.assets.json'), 'utf8'));
  const root = join(temporary, 'lambda');
  for (const { displayName, source } of Object.values<Asset>(manifest.files)) {
    const [name = ''] = displayName.split('/');
    if (!source.path.startsWith('asset.')) continue;
    await cp(join(temporary, 'assembly', source.path), join(root, name), { recursive: true });
  }
  return { root, remove: () => rm(temporary, { recursive: true, force: true }) };
}
