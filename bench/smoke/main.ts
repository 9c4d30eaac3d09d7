import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { answerHelp } from '../../infra/command.ts';
import { projectContext } from '../../infra/context.ts';
import { readStage } from '../../infra/stage.ts';
import { errorText } from '../../shared/base/values.ts';
import { prices } from '../costs/prices.ts';
import { accountIn } from './account.ts';
import { alarmArrives } from './alarm.ts';
import { checks, newBot, type Project, tokenOf } from './checks.ts';
import { serviceAt } from './service.ts';

/**
 * `npm run smoke`: whether a service does from outside what only a deployed one can show, with one of the Projects that
 * `npm run provision -- --for-spec` makes. A line for each check with what was seen; exit code 1 when one failed.
 */
const usage = `npm run smoke -- --base <BaseUrl> --demo <folder>/demo.json
  [--stage <name>]        of cdk.json, in the account that the credentials name: an alarm is raised there, too
  [--async-seconds <n>]   how long the asynchronous run takes (180)
  [--executes <n>]        how many executes one after the other (20)
  [--apart-seconds <n>]   how far apart (60)
`;
answerHelp(usage);

/** An execute's own: two functions of a second and less, and six units written. */
const executeUsd =
  prices.apiRequest + 2 * prices.lambdaRequest + 1.5 * prices.lambdaGbSecond + 6 * prices.writeUnit;

try {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      ...{ base: text, demo: text, stage: text },
      ...{ 'async-seconds': text, executes: text, 'apart-seconds': text },
    },
  });
  if (!values.base || !values.demo) throw new Error('Where is it, and with which Project?');
  const number = (given: string | undefined, usual: number) => {
    const value = Number(given ?? usual);
    if (!(value > 0)) throw new Error(`${given} is no number above 0`);
    return value;
  };
  const extent = {
    asyncSeconds: number(values['async-seconds'], 180),
    executes: number(values.executes, 20),
    apartSeconds: number(values['apart-seconds'], 60),
  };
  const { projects } = JSON.parse(await readFile(values.demo, 'utf8')) as { projects: Project[] };
  const [project] = projects;
  if (!project) throw new Error(`${values.demo} names no Project`);
  const service = serviceAt(values.base.replace(/\/$/, ''));
  const { stage: named } = values;
  const stage =
    named === undefined ? undefined : readStage((key) => (key === 'stage' ? named : projectContext()[key]));
  const smoke = { service, project, extent, run: randomBytes(4).toString('hex') };
  const token = await tokenOf(smoke);
  const bot = await newBot(smoke, token);
  let failed = 0;
  const all: Record<string, () => Promise<string>> = {
    ...Object.fromEntries(
      Object.entries(checks).map(([name, check]) => [name, () => check({ ...smoke, token, bot })]),
    ),
    'an alarm arrives': () => alarmArrives({ stage, open: accountIn, apartSeconds: 60, most: 20 }),
  };
  for (const [name, check] of Object.entries(all)) {
    const saw = await check().catch((error: unknown) => {
      failed += 1;
      return `FAILED ${errorText(error)}`;
    });
    process.stdout.write(`${name}: ${saw}\n`);
  }
  const usd = service.requests * executeUsd + extent.asyncSeconds * 1.5 * prices.lambdaGbSecond;
  process.stdout.write(`${service.requests} requests, about ${usd.toFixed(4)} USD\n`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exitCode = 2;
}
