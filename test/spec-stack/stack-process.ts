/**
 * A stack for spec files, one after the other: `node stack-process.ts <data folder> [<output folder of cdk synth>]`.
 * Beside the service it answers what a file asks of it: `POST` of `{ "do": …, "given": … }`.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { provisionDemo } from '../../infra/local/demo-projects.ts';
import { listen, readBody } from '../../infra/local/gateway/listen.ts';
import type { MailFault } from '../../infra/local/services/mailbox.ts';
import { startStack } from '../../infra/local/stack.ts';

const [, , dataDir = '', from] = process.argv;
const stack = await startStack({
  ...{ dataDir, port: 0, from },
  // All files are one source: what some provoke must not be refused to others.
  failedAddresses: 100_000,
  // Several stacks stand by at once.
  pollMs: 100,
});
let files = 0;
let wake = async () => {};

const deeds = {
  /** Two Projects of its own for a file. */
  async projects() {
    await wake();
    files += 1;
    const folder = join(dataDir, `file-${files}`);
    await mkdir(folder);
    return provisionDemo(folder, stack.baseUrl, await stack.load('provision'));
  },
  /** Until the next file, which may be long in coming: a stack that looks for changes takes time from other tests. */
  async rest() {
    wake = await stack.holdChanges();
  },
  sweep: () => stack.sweep(),
  call: async ({ name, event }: { name: 'provision'; event: never }) => (await stack.load(name))(event),
  mailFault: async (fault: MailFault) => stack.mailbox.fail(fault),
};
export type Deed = keyof typeof deeds;

const control = await listen(0, async (request, response) => {
  // Asked now and then: a connection that is kept may be closed just as it is used again.
  response.setHeader('connection', 'close');
  const body = await readBody(request, 1024 * 1024);
  const asked = JSON.parse(String(body)) as { do: Deed; given?: never };
  try {
    response.end(JSON.stringify({ done: (await deeds[asked.do](asked.given as never)) ?? null }));
  } catch (error) {
    const { name, message } = error as Error;
    response.writeHead(500).end(JSON.stringify({ name, message }));
  }
});
process.stdout.write(`the stack of specs is asked at ${control.url}\n`);

process.once('SIGTERM', async () => {
  await control.stop();
  await stack.stop();
  process.exit(0);
});
