import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { addSite, HouseFunction } from '../../infra/constructs/house-function.ts';
import { LockedInvoker } from '../../infra/constructs/own-functions.ts';
import { readAssembly, unpack } from '../../infra/local/assembly/assembly.ts';

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
 * The functions, and the invoker for this machine's processor, as they would be deployed, in a folder that has no
 * node_modules above it: those of PORTICO_FROM, else bundled now.
 */
export function deployedBundles(functions: readonly string[]): Promise<Bundles> {
  const { PORTICO_FROM: from } = process.env;
  return from === undefined ? bundle(functions) : unpackBundles(from);
}

async function unpackBundles(from: string): Promise<Bundles> {
  const root = await mkdtemp(join(tmpdir(), 'portico-bundles-'));
  const unpacked = await unpack(await readAssembly(from));
  // Several functions may have one folder's bundle.
  const assets = new Map(unpacked.functions.map(({ folder, asset }) => [folder, asset]));
  await Promise.all([...assets].map(([folder, asset]) => symlink(asset, join(root, folder))));
  return {
    root,
    async remove() {
      await unpacked.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/**
 * Bundles with the constructs that deploy.
 */
async function bundle(functions: readonly string[]): Promise<Bundles> {
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
