import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { answerHelp, endWithUsage, flag, text } from '../command.ts';
import type { Demo } from './demo-projects.ts';
import { functionsHere, type Invocable } from './invocations/functions-here.ts';
import { sampleEvents, sampleGround } from './invocations/sample-events.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

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
answerHelp(usage);

function readCall() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { sample: flag, from: text },
  });
  const [name = '', eventFile, ...others] = positionals;
  if (!(name in sampleEvents)) throw new Error(name ? `There is no function ${name}` : 'Name a function');
  if (others.length > 0) throw new Error('One event at a time');
  return { name: name as Invocable, eventFile, ...values };
}

function asked() {
  try {
    return readCall();
  } catch (error) {
    return endWithUsage(error, usage, 2);
  }
}

const { name, eventFile, sample, from } = asked();
const where = settings(process.env);
const printed = await withStack(where, async () => {
  const functions = await functionsHere(from);
  try {
    const event: unknown = eventFile
      ? JSON.parse(await readFile(eventFile, 'utf8'))
      : await sampleEvents[name](await sampleGround(await readDemo(where.dataDir), functions));
    return sample ? event : await functions.invoke(name, event);
  } finally {
    await functions.stop();
  }
}).catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
process.stdout.write(`${JSON.stringify(printed ?? null, null, 2)}\n`);
process.exit(0);

async function readDemo(dataDir: string): Promise<Demo> {
  return JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
}
