import { copyFile, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openingOnly } from '../../../shared/composition/stage-keys.ts';
import { addonOf, type GuestPlatform, thisPlatform } from '../../guest/build.ts';
import { localAws } from '../environment.ts';
import type { LoadHandler } from '../functions.ts';
import { type FunctionEnvironment, startEnvironment } from './environment.ts';
import { guardTable, openPurposes, type RoleStatement } from './role.ts';

/** A function as a synthesised template describes it. */
export interface SynthesisedFunction {
  /** The folder of its source, such as `execute-by-id`; several functions may come from one. */
  folder: string;
  /** Absolute path of what Lambda would unpack. */
  asset: string;
  handler: string;
  timeoutSeconds: number;
  memoryMb: number;
  /** As in the template: a text, or a reference to what CloudFormation knows. */
  variables: Readonly<Record<string, unknown>>;
  /** What its role may do. */
  statements: readonly RoleStatement[];
}

interface Resource {
  Type: string;
  Properties: {
    Description?: string;
    Role: { 'Fn::GetAtt': [string] };
    Code: { S3Key: string };
    Handler: string;
    Timeout: number;
    MemorySize: number;
    Environment?: { Variables: Record<string, unknown> };
    Roles: { Ref?: string }[];
    PolicyDocument: { Statement: RoleStatement[] };
  };
}

/**
 * The functions of `cdk synth`'s output folder. Every role's description begins with its function's folder:
 * `infra/constructs/house-function.ts`.
 * @throws {Error} when the folder holds no synthesised app
 */
export async function readAssembly(folder: string): Promise<SynthesisedFunction[]> {
  const files = await readdir(folder).catch(() => []);
  const templates = files.filter((file) => file.endsWith('.template.json')).sort();
  if (templates.length === 0) throw new Error(`${folder} holds no synthesised app: run npm run synth first`);
  const stages = new Set(templates.map((file) => file.replace(/-[a-z]+\.template\.json$/, '')));
  if (stages.size > 1)
    throw new Error(`${folder} holds several stages: delete it and run npm run synth again`);
  const texts = await Promise.all(templates.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((text) => functionsOf(JSON.parse(text).Resources, folder));
}

function functionsOf(resources: Record<string, Resource>, root: string): SynthesisedFunction[] {
  const ofType = (type: string) =>
    Object.values(resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));
  return ofType('AWS::Lambda::Function').flatMap((properties) => {
    const [roleId] = properties.Role['Fn::GetAtt'];
    const description = resources[roleId]?.Properties.Description;
    // What the CDK brings along to make a resource has no description.
    if (description === undefined) return [];
    const policies = ofType('AWS::IAM::Policy').filter(({ Roles }) =>
      Roles.some(({ Ref }) => Ref === roleId),
    );
    return {
      folder: description.split(':', 1)[0] ?? '',
      // The CDK names both an asset's folder and its object by the hash.
      asset: join(root, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`),
      handler: properties.Handler,
      timeoutSeconds: properties.Timeout,
      memoryMb: properties.MemorySize,
      variables: properties.Environment?.Variables ?? {},
      statements: policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
    };
  });
}

/**
 * Given beside the template's variables: they lead the clients to this machine's engines, and say what differs on it.
 * Nothing of a function's own configuration is among them.
 */
const ofThisMachine = [
  ...['DYNAMODB', 'LAMBDA', 'JOBS', 'SES', 'EVENTS'].map((service) => `${service}_ENDPOINT`),
  ...['SUBSCRIPTION_MEMORY_SECONDS', 'ACCESS_LOG', 'STAGE', 'PORTICO_ALLOW_LOOPBACK_HOOKS'],
  ...Object.keys(localAws),
];

/** What this machine says wins over a stage's setting: its address, its bounds, and sets of search parameters where it names some. */
const chosenHere = /^(?:BASE_URL|SEARCH_PARAMETERS|FAILED_ADDRESSES|ACCOUNT_CONCURRENCY|TRUSTED_HOPS)$/;

/** What the templates refer to and a laptop's stack has no name for. */
export const onlyOnAws = { SES_CONFIGURATION_SET: 'portico-local' };

/**
 * The variables of the template, but what CloudFront proves to them, which nobody does here: what it refers to has this machine's value, what it says stands as it is.
 * @throws {Error} for a reference to what this machine does not have
 */
export function variablesOf(
  { folder, variables }: Pick<SynthesisedFunction, 'folder' | 'variables'>,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, said] of Object.entries(variables)) {
    if (name === 'ORIGIN_SECRETS') continue;
    const here = values[name];
    const value = (chosenHere.test(name) && here) || (typeof said === 'string' ? said : here);
    if (value === undefined) throw new Error(`${folder} needs ${name}, which a laptop has nothing for`);
    given[name] = value;
  }
  for (const name of ofThisMachine) {
    const value = values[name];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** `execute-by-id` → `ExecuteById`: what `sam local invoke` is given. */
export function samName(folder: string): string {
  return folder.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Copies the assets into a temporary folder, as Lambda unpacks them, where no `node_modules` of ours can help them. */
export async function unpack(functions: readonly SynthesisedFunction[]) {
  const root = await mkdtemp(join(tmpdir(), 'portico-lambda-'));
  // Where one copy failed, others may still be under way.
  const stop = () => rm(root, { recursive: true, force: true, maxRetries: 5 });
  try {
    const copies = new Map(functions.map((one) => [one.asset, one.folder]));
    const copied = [...copies].map(async ([asset, folder], i) => {
      const to = join(root, `${i}-${folder}`);
      await copyAsset({ asset, folder }, to, thisPlatform());
      return [asset, to] as const;
    });
    const folders = new Map(await Promise.all(copied));
    return { functions: functions.map((one) => ({ ...one, asset: folders.get(one.asset) ?? '' })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One file is exchanged: the sandbox's native addon, built for Lambda's processor, for the same release of it for another. */
export async function copyAsset(
  { asset, folder }: Pick<SynthesisedFunction, 'asset' | 'folder'>,
  to: string,
  platform: GuestPlatform,
): Promise<void> {
  await cp(asset, to, { recursive: true });
  if (folder === 'invoker') await copyFile(addonOf(platform), join(to, 'guest/isolated-vm.node'));
}

/**
 * The functions of `cdk synth`'s output, to be run in the place of those of `functions/`: the same bundles, handlers
 * and variables, each with a table that allows what its role allows.
 * @param folder such as `cdk.out`
 * @param onFault is told of what a role does not allow: its caller sees a fault only
 */
export async function openAssembly(folder: string, onFault: (error: Error) => void) {
  const { functions, stop: removeAssets } = await unpack(await readAssembly(folder));
  const started = new Map<string, Promise<FunctionEnvironment>>();
  const stops: (() => Promise<void>)[] = [removeAssets];
  let values: Readonly<Record<string, string>> = {};

  async function start(name: string): Promise<FunctionEnvironment> {
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
