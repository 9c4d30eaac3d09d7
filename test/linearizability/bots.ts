import { randomUUID } from 'node:crypto';
import { createBot, deploy } from '../spec/running.ts';
import type { Ground } from './ground.ts';
import type { Kind, Outcome, Request } from './kind.ts';
import type { Model } from './search.ts';

type Which = 0 | 1;

/** Two Bots, and an identifier that one of them may have; each version of their code answers a number of its own. */
type Input =
  | { do: 'deploy' | 'roll back'; bot: Which; version: number }
  | { do: 'execute'; bot: Which }
  | { do: 'execute by identifier' }
  | { do: 'take identifier' | 'give identifier up'; bot: Which };

interface Output extends Outcome {
  /** Which version ran. */
  version?: number;
}

interface State {
  /** The version that each runs. */
  runs: readonly [number, number];
  named?: Which;
}

/** Deployed before: the first two of the first Bot, the next two of the other. */
const firstVersions = [
  [1, 2],
  [3, 4],
] as const;

export const botModel: Model<State, Input, Output> = {
  initial: { runs: [2, 4] },
  step(state, input, output) {
    const { status, next, version } = effectOf(state, input);
    if (output === undefined) return [next];
    return output.status === status && output.version === version ? [next] : [];
  },
};

function effectOf(state: State, input: Input): { status: number; next: State; version?: number } {
  const { runs, named } = state;
  if (input.do === 'execute by identifier') {
    return named === undefined
      ? { status: 404, next: state }
      : { status: 200, next: state, version: runs[named] };
  }
  const { bot } = input;
  switch (input.do) {
    case 'execute':
      return { status: 200, next: state, version: runs[bot] };
    case 'take identifier':
      if (named !== undefined && named !== bot) return { status: 409, next: state };
      return { status: 200, next: { ...state, named: bot } };
    case 'give identifier up':
      return { status: 200, next: named === bot ? { runs } : state };
    default: {
      const moved = bot === 0 ? ([input.version, runs[1]] as const) : ([runs[0], input.version] as const);
      return { status: 200, next: { ...state, runs: moved } };
    }
  }
}

/** The same two Bots for all histories: what each begins with has been deployed before. */
export async function prepareBots({
  portico,
  projects,
}: Ground): Promise<() => Promise<Kind<State, Input, Output>>> {
  const { token } = projects[0];
  const identifier = { system: 'urn:linear', value: randomUUID() };
  const hashes = new Map<number, string>();
  const ids = [await prepare(0), await prepare(1)] as const;
  let deployed = 4;

  const kind: Kind<State, Input, Output> = {
    model: botModel,
    choose({ what, which, how }) {
      const bot = (which % 2) as Which;
      switch (what % 9) {
        case 0:
        case 1:
          return { do: 'deploy', bot, version: ++deployed };
        case 2:
          return { do: 'deploy', bot, version: firstVersions[bot][how % 2 === 0 ? 0 : 1] };
        case 3:
          return { do: 'roll back', bot, version: firstVersions[bot][how % 2 === 0 ? 0 : 1] };
        case 4:
          return { do: 'take identifier', bot };
        case 5:
          return { do: 'give identifier up', bot };
        case 6:
          return { do: 'execute', bot };
        default:
          return { do: 'execute by identifier' };
      }
    },
    request: requestOf,
    read(input, { status, json, text }) {
      // A busy machine: nothing was deployed, or nobody knows which version ran.
      if (status === 400 && /within \d+ ms|"timeout"/.test(text)) return undefined;
      const isRun = input.do === 'execute' || input.do === 'execute by identifier';
      return { status, ...(isRun && status === 200 ? { version: json } : {}) };
    },
    last: () => [{ do: 'execute', bot: 0 }, { do: 'execute', bot: 1 }, { do: 'execute by identifier' }],
  };

  return async () => {
    for (const bot of [0, 1] as const) {
      for (const input of [
        { do: 'roll back', bot, version: botModel.initial.runs[bot] },
        { do: 'give identifier up', bot },
      ] as const) {
        const { method, path, body } = requestOf(input);
        const { status, text } = await portico.api(method, path, { token, body });
        if (status !== 200) throw new Error(text);
      }
    }
    return kind;
  };

  function requestOf(input: Input): Request {
    const post = (path: string, body?: object): Request => ({
      method: 'POST',
      path,
      token,
      ...(body ? { body } : {}),
    });
    if (input.do === 'execute by identifier') {
      return post(`fhir/R4/Bot/$execute?identifier=${identifier.system}|${identifier.value}`);
    }
    const id = ids[input.bot];
    switch (input.do) {
      case 'execute':
        return post(`fhir/R4/Bot/${id}/$execute`);
      case 'deploy':
        return post(`fhir/R4/Bot/${id}/$deploy`, codeOf(input.version));
      case 'roll back':
        return post(`fhir/R4/Bot/${id}/$rollback`, { version: hashes.get(input.version) });
      default: {
        const named = input.do === 'take identifier' ? { identifier: [identifier] } : {};
        const body = { resourceType: 'Bot', id, name: 'Linear', ...named };
        return { method: 'PUT', path: `fhir/R4/Bot/${id}`, token, body };
      }
    }
  }

  async function prepare(bot: Which): Promise<string> {
    const id = await createBot(portico, { name: 'Linear' });
    for (const version of firstVersions[bot]) {
      const { code, filename } = codeOf(version);
      await deploy(portico, id, code, filename);
    }
    const { parameter } = (await portico.api('GET', `fhir/R4/Bot/${id}/$versions`)).json;
    for (const { name, part } of parameter) {
      if (name !== 'version') continue;
      const told = Object.fromEntries(
        part.map((one: { name: string; valueString?: string }) => [one.name, one.valueString]),
      );
      hashes.set(Number(/\d+/.exec(told.filename)?.[0]), told.hash);
    }
    return id;
  }
}

function codeOf(version: number): { code: string; filename: string } {
  return { code: `exports.handler = async () => ${version};`, filename: `v${version}.cjs` };
}
