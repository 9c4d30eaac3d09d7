import { copyFile, link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { openingOnly } from '../../../shared/composition/stage-keys.ts';
import { addonOf, thisPlatform } from '../../guest/build.ts';
import { localAws } from '../environment.ts';
import type { LoadHandler } from '../functions.ts';
import { type Environment, startEnvironment } from './environment.ts';
import { onlyOnAws, readAssembly, type SynthesisedFunction, variablesOf } from './read-assembly.ts';
import { guardTable, openPurposes } from './role.ts';

/**
 * Copies the assets into a temporary folder, as Lambda unpacks them, where no `node_modules` of ours can help them.
 * One file is exchanged: the sandbox's native addon, which is built for Lambda's processor, for the same release of it
 * for this machine's.
 */
export async function unpack(functions: readonly SynthesisedFunction[]) {
  const root = await mkdtemp(join(tmpdir(), 'portico-lambda-'));
  const stop = () => rm(root, { recursive: true, force: true });
  try {
    const copies = new Map(functions.map((one) => [one.asset, one.folder]));
    const copied = [...copies].map(async ([asset, folder], i) => {
      const to = join(root, `${i}-${folder}`);
      await copyAsset(asset, to, folder === 'invoker');
      return [asset, to] as const;
    });
    const folders = new Map(await Promise.all(copied));
    return { functions: functions.map((one) => ({ ...one, asset: folders.get(one.asset) ?? '' })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function copyAsset(asset: string, to: string, isInvoker: boolean): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(asset, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const copy = join(to, relative(asset, from));
    if (entry.isDirectory()) await mkdir(copy, { recursive: true });
    else if (isInvoker && entry.name === 'isolated-vm.node') await copyFile(addonOf(thisPlatform()), copy);
    // Nothing writes into an asset: a second name for its files is a copy, where one disk holds both.
    else await link(from, copy).catch(() => copyFile(from, copy));
  }
}

/**
 * The functions of `cdk synth`'s output, to be run in the place of those of `functions/`: the same bundles, handlers
 * and variables, each with a table that allows what its role allows.
 * @param folder such as `cdk.out`
 * @param onFault is told of what a role does not allow: its caller sees a fault only
 */
export async function openAssembly(folder: string, onFault: (error: Error) => void) {
  const { functions, stop: removeAssets } = await unpack(await readAssembly(folder));
  const started = new Map<string, Promise<Environment>>();
  const stops: (() => Promise<void>)[] = [removeAssets];
  let values: Readonly<Record<string, string>> = {};

  async function start(name: string): Promise<Environment> {
    const one = functionNamed(functions, name);
    const { DYNAMODB_ENDPOINT: endpoint = '' } = values;
    const table = await guardTable(endpoint, one.statements, (asked) =>
      onFault(new Error(`The role of ${name} does not allow ${asked}`)),
    );
    stops.push(table.stop);
    const { asset, handler, timeoutSeconds } = one;
    const environment = startEnvironment({
      ...{ name: `portico-${name}`, folder: asset, handler, timeoutMs: timeoutSeconds * 1000 },
      variables: { ...variablesOf(one, values), ...keysOf(one, values), DYNAMODB_ENDPOINT: table.url },
    });
    stops.push(environment.stop);
    return environment;
  }

  const load = async (name: string) => {
    const starting = started.get(name) ?? start(name);
    started.set(name, starting);
    const { invoke } = await starting;
    return (event: unknown) => invoke(event);
  };
  return {
    /** The invoker's unpacked asset. */
    invokerFolder: functionNamed(functions, 'invoker').asset,
    load: load as LoadHandler,
    /** What the templates refer to, and where this machine's engines are; to be called before `load`. */
    use(environment: Readonly<Record<string, string>>) {
      values = { ...environment, ...localAws, ...onlyOnAws };
    },
    async stop() {
      for (const end of stops.splice(0).reverse()) await end();
    },
  };
}

/** The stage's keys are opened in the place of KMS by what allows what the role allows. */
function keysOf(
  { statements, variables }: SynthesisedFunction,
  { KEYS: spec = '' }: Readonly<Record<string, string>>,
): Record<string, string> {
  return 'KEYS' in variables ? { KEYS: openingOnly(spec, openPurposes(statements)) } : {};
}

function functionNamed(functions: readonly SynthesisedFunction[], name: string): SynthesisedFunction {
  const found = functions.find(({ folder }) => folder === name);
  if (!found) throw new Error(`The synthesised app has no function ${name}`);
  return found;
}
