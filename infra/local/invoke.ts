import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fieldsOf } from '../../shared/base/values.ts';
import { command, flag, text } from '../command.ts';
import { cachedGuest } from '../guest/build.ts';
import { openAssembly } from './assembly/assembly.ts';
import { lambdaContext } from './context.ts';
import type { Demo } from './demo-projects.ts';
import { settings } from './environment.ts';
import { handlerLoader } from './functions.ts';
import { type Invocable, sampleEvents, sampleGround } from './sample-events.ts';
import { withStack } from './stack.ts';

/**
 * `npm run invoke`: one handler on one event, here, on the data of the stack that runs or of one started for it.
 * Prints what the handler returned; ends with 1 when it threw, with 2 when it could not be asked.
 */
const usage = `npm run invoke -- <function> [<event.json>] [--from cdk.out]
npm run invoke -- <function> --sample
  <event.json>  what Lambda would hand over; without it a sample: a request of the first demo Project's client,
                a schedule's call for what queues feed, a run for the invoker
  --sample      prints the sample instead of invoking with it
  --from        runs the bundle that npm run synth has put into that folder, in the place of the source
  functions:    ${Object.keys(sampleEvents).join(' ')}
`;

type Handler = (event: unknown, context?: unknown) => Promise<unknown>;

const timeoutMs = 29_000;

/** The functions in this process, in the environment of the stack that `withStack` has found or started. */
async function functionsHere(from: string | undefined) {
  const told = ({ message }: Error) => void process.stderr.write(`${message}\n`);
  const assembly = from === undefined ? undefined : await openAssembly(resolve(from), told);
  assembly?.use(process.env as Record<string, string>);
  const load = assembly?.load ?? handlerLoader();
  const invoke = async (name: Invocable, event: unknown) => {
    if (name === 'invoker') process.env.PORTICO_GUEST_DIR ??= await cachedGuest();
    const handler = (await load(name as 'provision')) as Handler;
    // Lambda is told the tenant of the invoker by who invokes.
    const tenant = name === 'invoker' ? { tenantId: fieldsOf(event).project } : {};
    return handler(event, { ...lambdaContext(`portico-${name}`, timeoutMs), ...tenant });
  };
  return { invoke, stop: async () => assembly?.stop() };
}

const taken = { failed: 2, allowPositionals: true, options: { sample: flag, from: text } } as const;
await command(usage, taken, async ({ values, positionals }) => {
  const [named = '', eventFile, ...others] = positionals;
  if (!(named in sampleEvents)) throw new Error(named ? `There is no function ${named}` : 'Name a function');
  if (others.length > 0) throw new Error('One event at a time');
  const name = named as Invocable;
  const where = settings();
  const printed = await withStack(where, async () => {
    const functions = await functionsHere(values.from);
    try {
      const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as unknown;
      const ground = async () => sampleGround((await read(join(where.dataDir, 'demo.json'))) as Demo);
      const event = eventFile ? await read(eventFile) : await sampleEvents[name](await ground());
      return values.sample ? event : await functions.invoke(name, event);
    } finally {
      await functions.stop();
    }
  }).catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
  process.stdout.write(`${JSON.stringify(printed ?? null, null, 2)}\n`);
  process.exit(0);
});
