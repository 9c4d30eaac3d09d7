import { openingOnly } from '../../../shared/composition/stage-keys.ts';
import type { DeployedFunction } from '../../permissions.ts';
import { localAws } from '../environment.ts';
import type { handlerLoader } from '../gateway/handlers.ts';
import { type Environment, startEnvironment } from './environment.ts';
import { guardTable } from './guarded-table.ts';
import { readAssembly, type SynthesisedFunction } from './read-assembly.ts';
import { openPurposes } from './role.ts';
import { unpack } from './unpack.ts';
import { onlyOnAws, variablesOf } from './variables.ts';

/** A synthesised app on this machine. */
export interface Assembly {
  /** The invoker's unpacked asset. */
  invokerFolder: string;
  load: ReturnType<typeof handlerLoader>;
  /** What the templates refer to, and where this machine's engines are; to be called before `load`. */
  use(environment: Readonly<Record<string, string>>): void;
  stop(): Promise<void>;
}

/**
 * The functions of `cdk synth`'s output, to be run in the place of those of `functions/`: the same bundles, handlers
 * and variables, each with a table that allows what its role allows.
 * @param folder such as `cdk.out`
 * @param onFault is told of what a role does not allow: its caller sees a fault only
 */
export async function openAssembly(folder: string, onFault: (error: Error) => void): Promise<Assembly> {
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

  const load = async (name: DeployedFunction) => {
    const starting = started.get(name) ?? start(name);
    started.set(name, starting);
    const environment = await starting;
    return (event: unknown) => environment.invoke(event);
  };
  return {
    invokerFolder: functionNamed(functions, 'invoker').asset,
    load: load as Assembly['load'],
    use(environment) {
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
