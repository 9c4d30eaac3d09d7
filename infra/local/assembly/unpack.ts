import { copyFile, link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { addonOf, thisPlatform } from '../../guest/build.ts';
import type { SynthesisedFunction } from './read-assembly.ts';

export interface Unpacked {
  /** The functions, their assets where no `node_modules` of ours can help them. */
  functions: SynthesisedFunction[];
  stop(): Promise<void>;
}

/**
 * Copies the assets into a temporary folder, as Lambda unpacks them. One file is exchanged: the sandbox's native addon,
 * which is built for Lambda's processor, for the same release of it for this machine's.
 */
export async function unpack(functions: readonly SynthesisedFunction[]): Promise<Unpacked> {
  const root = await mkdtemp(join(tmpdir(), 'portico-lambda-'));
  const stop = () => rm(root, { recursive: true, force: true });
  try {
    const copied = new Map<string, Promise<string>>();
    const copyOnce = (one: SynthesisedFunction) => {
      const copying = copied.get(one.asset) ?? copyAsset(one, join(root, `${copied.size}-${one.folder}`));
      copied.set(one.asset, copying);
      return copying;
    };
    const unpacked = functions.map(async (one) => ({ ...one, asset: await copyOnce(one) }));
    return { functions: await Promise.all(unpacked), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function copyAsset({ asset, folder }: SynthesisedFunction, to: string): Promise<string> {
  await mkdir(to);
  for (const entry of await readdir(asset, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const copy = join(to, relative(asset, from));
    const isExchanged = folder === 'invoker' && entry.name === 'isolated-vm.node';
    if (entry.isDirectory()) await mkdir(copy, { recursive: true });
    else if (isExchanged) await copyFile(addonOf(thisPlatform()), copy);
    // Nothing writes into an asset: a second name for its files is a copy, where one disk holds both.
    else await link(from, copy).catch(() => copyFile(from, copy));
  }
  return to;
}
