/**
 * A bounded load on a stage: `npm run load -- --base https://… --client-id … --client-secret … --bot <id>`.
 * What it does is real: runs are recorded and billed, invited people (example.org, without mail) stay.
 */

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { answerHelp } from '../infra/command.ts';
import { generate } from './load/generate.ts';
import { httpClient } from './load/http-client.ts';
import { progressOf, reportOf } from './load/report.ts';
import { type Caller, execute, invite, signIn } from './load/steps.ts';

const usage = `npm run load -- --base <URL> --client-id <id> --client-secret <secret> (--bot <id> | --identifier <system|value> | --invite <project>)
  --body <text> | --body-file <path>   what a Bot is given ({})
  --content-type <type>                of it (application/json)
  --at-once <n>                        requests under way at once: 1 to 256 (8)
  --seconds <n>                        1 to 600 (10)
  --requests <n>                       ends after so many, if that comes first: at most 1000000
  --rate <n>                           at most so many a second`;
answerHelp(usage);

const { values } = parseArgs({
  options: Object.fromEntries(
    [
      ...['base', 'client-id', 'client-secret', 'bot', 'identifier', 'invite', 'body', 'body-file'],
      ...['content-type', 'at-once', 'seconds', 'requests', 'rate'],
    ].map((name) => [name, { type: 'string' as const }]),
  ),
});
const { base, bot, identifier, invite: project } = values as Record<string, string | undefined>;
const clientId = values['client-id'] ?? process.env.PORTICO_CLIENT_ID;
const clientSecret = values['client-secret'] ?? process.env.PORTICO_CLIENT_SECRET;
const targets = [bot, identifier, project].filter((target) => target !== undefined);
if (!base || !clientId || !clientSecret || targets.length !== 1) fail(usage);

const http = httpClient();
const caller: Caller = { http, baseUrl: `${base}`.replace(/\/$/, ''), token: '' };
caller.token = await signIn(caller, String(clientId), String(clientSecret)).catch((error: Error) =>
  fail(error.message),
);
const file = values['body-file'];
const body = file === undefined ? String(values.body ?? '{}') : await readFile(String(file), 'utf8');
const contentType = String(values['content-type'] ?? 'application/json');
const step = project
  ? () => invite(caller, project)
  : () =>
      execute(
        caller,
        bot === undefined ? { identifier: String(identifier) } : { id: bot },
        body,
        contentType,
      );
const amount = {
  atOnce: within('at-once', 8, 1, 256),
  forMs: 1000 * within('seconds', 10, 1, 600),
  requests: within('requests', 1_000_000, 1, 1_000_000),
  perSecond: values.rate === undefined ? undefined : within('rate', 1, 0.01, 10_000),
};
const load = await generate(step, amount, (soFar) => void process.stderr.write(progressOf(soFar)));
http.close();
process.stdout.write(`${reportOf(load).join('\n')}\n`);
process.exitCode = load.failures.size > 0 ? 1 : 0;

function within(name: string, otherwise: number, least: number, most: number): number {
  const number = Number(values[name] ?? otherwise);
  return number >= least && number <= most ? number : fail(`--${name} is from ${least} to ${most}`);
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
