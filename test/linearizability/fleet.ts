import type { IncomingMessage, ServerResponse } from 'node:http';
import { handlerLoader } from '../../infra/local/functions.ts';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { type Listening, listen, readBody } from '../../infra/local/gateway/listen.ts';
import { createExchanger, type WireAnswer as Said } from '../../shared/aws/wire/transport.ts';
import { type StillStack, startStillStack } from '../faults/every-call/still-stack.ts';
import { forward, passOn } from '../faults/every-call/ways.ts';
import { seeded } from '../setup/seeded.ts';
import type { Answer } from '../spec/portico.ts';
import type { Request } from './kind.ts';

/** What befalls a function at one of its calls to the table. */
export const mishaps = ['dies before', 'dies after', 'is not answered', 'is left alone'] as const;

export interface Mishap {
  /** The call, from 1. */
  call: number;
  /** The function dies before the call or after it; the call's answer is lost; whoever called the function goes. */
  what: (typeof mishaps)[number];
}

/**
 * Several instances of Portico's functions at one table, each serving one request at a time as Lambda's do, with a
 * memory of its own. Of their calls to the table one goes on at a time: a seed says which.
 */
export interface Fleet {
  stack: StillStack;
  /** From now on calls go on in the order of this seed. */
  begin(seed: number): void;
  /** @returns undefined when nobody is told: the function died, or its caller did not wait */
  call(request: Request, mishap: Mishap | undefined): Promise<Answer | undefined>;
  /** When nothing is under way any more. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface Instance {
  gateway: Listening;
  way: Listening;
  /** What is under way in it. */
  trial: Trial | undefined;
  /** The next request is served by a process that starts. */
  restart(): void;
}

interface Trial {
  mishap: Mishap | undefined;
  calls: number;
  isDead: boolean;
  /** Nobody waits for its answer any more. */
  leave(): void;
}

const longestBodyBytes = 17 * 1024 * 1024;
const timeouts = { integrationMs: 60_000, functionMs: () => 60_000 };
/** Whoever neither calls nor ends for so long waits for something else than the table. */
const settleMs = 10;

export async function startFleet(size: number): Promise<Fleet> {
  const stack = await startStillStack();
  const exchanger = createExchanger();
  const table = new URL(stack.endpoint);
  const turns = takeTurns();
  let past = new Map<string, Said>();
  let imports: Promise<unknown> = Promise.resolve();

  async function startInstance(): Promise<Instance> {
    const way = await listen(0, (request, response) => {
      pass(request, response)
        .catch(() => request.socket.destroy())
        .finally(turns.look);
    });
    let load = handlerLoader();
    const gateway = await startGateway({
      port: 0,
      timeouts,
      onFault: () => undefined,
      loadHandler(name) {
        // A handler reads its environment when it is imported.
        const loading = imports.then(() => {
          process.env.DYNAMODB_ENDPOINT = way.url;
          return load(name);
        });
        imports = loading.catch(() => undefined);
        return loading;
      },
    });
    const instance: Instance = {
      ...{ gateway, way, trial: undefined },
      restart() {
        load = handlerLoader();
      },
    };
    return instance;

    async function pass(request: IncomingMessage, response: ServerResponse) {
      const body = await readBody(request, longestBodyBytes);
      const { trial } = instance;
      if (trial) await turns.wait(instance);
      const call = trial ? ++trial.calls : 0;
      const what = trial && trial.mishap?.call === call ? trial.mishap.what : undefined;
      if (trial && what === 'dies before') die(trial);
      if (trial?.isDead) return refuse(response);
      const said = stale(request, body) ?? (await forward(exchanger, table, request, body));
      keep(request, body, said);
      if (trial && what === 'dies after') {
        die(trial);
        return refuse(response);
      }
      if (what === 'is not answered') return void request.socket.destroy();
      if (what === 'is left alone') trial?.leave();
      passOn(said, response);
    }
  }

  /** A read that does not ask for the newest may be answered as it was before. */
  function stale(request: IncomingMessage, body: Buffer | undefined): Said | undefined {
    return isEventual(request, body) && turns.chance() < 0.5 ? past.get(String(body)) : undefined;
  }

  function keep(request: IncomingMessage, body: Buffer | undefined, said: Said): void {
    if (said.statusCode === 200 && isEventual(request, body)) past.set(String(body), said);
  }

  const instances = await Promise.all(Array.from({ length: size }, startInstance));
  const waiting: ((instance: Instance) => void)[] = [];
  const free = [...instances];

  async function call(request: Request, mishap: Mishap | undefined): Promise<Answer | undefined> {
    const instance = free.pop() ?? (await new Promise<Instance>((resolve) => waiting.push(resolve)));
    const { promise: left, resolve: leave } = Promise.withResolvers<undefined>();
    instance.trial = { mishap, calls: 0, isDead: false, leave: () => leave(undefined) };
    turns.enter(instance);
    const answered = send(`${instance.gateway.url}/${request.path}`, request).finally(() => {
      if (instance.trial?.isDead) instance.restart();
      instance.trial = undefined;
      turns.end(instance);
      const next = waiting.shift();
      if (next) next(instance);
      else free.push(instance);
    });
    return Promise.race([answered, left]);
  }

  return {
    stack,
    begin(seed) {
      past = new Map();
      turns.begin(seed);
    },
    call,
    idle: () => turns.idle(),
    async stop() {
      await Promise.all(instances.flatMap(({ gateway, way }) => [gateway.stop(), way.stop()]));
      exchanger.close();
      await stack.stop();
    },
  };
}

function die(trial: Trial): void {
  trial.isDead = true;
  trial.leave();
}

/** What a dead function hears, so that it comes to its end: nobody hears of it. */
function refuse(response: ServerResponse): void {
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: 'dead' }));
}

function isEventual({ headers }: IncomingMessage, body: Buffer | undefined): boolean {
  const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
  if (!['BatchGetItem', 'GetItem', 'Query', 'Scan'].includes(operation)) return false;
  return !String(body).includes('"ConsistentRead":true');
}

async function send(url: string, { method, body, headers = {}, token }: Request): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  const { status } = response;
  return { status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Who is inside takes turns: when each waits at a call, one goes on, often the one that went on last. */
function takeTurns() {
  const inside = new Set<Instance>();
  const held: { instance: Instance; go(): void }[] = [];
  let idlers: (() => void)[] = [];
  let last: Instance | undefined;
  let timer: NodeJS.Timeout | undefined;
  let chance = seeded(1);

  function goOn(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held.length === 0) return;
    const again = chance() < 0.5 ? held.findIndex(({ instance }) => instance === last) : -1;
    const at = again >= 0 ? again : Math.floor(chance() * held.length);
    const [one] = held.splice(at, 1);
    last = one?.instance;
    one?.go();
  }

  function look(): void {
    if (held.length === 0) return;
    const isSettled = [...inside].every((one) => held.some(({ instance }) => instance === one));
    if (isSettled) goOn();
    else timer ??= setTimeout(goOn, settleMs);
  }

  return {
    chance: () => chance(),
    look,
    begin(seed: number) {
      chance = seeded(seed);
      last = undefined;
    },
    enter(instance: Instance) {
      inside.add(instance);
    },
    end(instance: Instance) {
      inside.delete(instance);
      look();
      if (inside.size > 0) return;
      for (const tell of idlers) tell();
      idlers = [];
    },
    wait(instance: Instance): Promise<void> {
      return new Promise((go) => {
        held.push({ instance, go });
        look();
      });
    },
    idle: () => (inside.size === 0 ? Promise.resolve() : new Promise<void>((tell) => idlers.push(tell))),
  };
}
