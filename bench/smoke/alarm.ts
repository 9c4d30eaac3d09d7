import { setTimeout as pause } from 'node:timers/promises';
import { functionNameOf } from '../../infra/stage.ts';
import { errorName } from '../../shared/base/values.ts';
import type { Account } from './account.ts';

/** A request that `provision` refuses before it looks at anything. */
export const refusedRequest = { project: 'smoke', paused: 'neither' } as const;

interface Watched {
  /** Of cdk.json; undefined when nobody named one. */
  stage: { name: string; region: string; alarmEmail?: string } | undefined;
  /** Rejects where there are no credentials. */
  open(region: string): Promise<Account>;
  /** Between two failures. CloudWatch counts them in periods of five minutes, and two of them have to be bad. */
  apartSeconds: number;
  /** How many of them at most. */
  most: number;
}

/**
 * Has `provision` fail, which does nothing, until the alarm on that goes off and CloudWatch has told the topic of it.
 * @returns what was seen, or why nothing was looked at
 * @throws {Error} saying what was not as it should be
 */
export async function alarmArrives({ stage, open, apartSeconds, most }: Watched): Promise<string> {
  if (!stage) return 'skipped: no --stage';
  const account = await open(stage.region).catch((error: unknown) => errorName(error));
  if (typeof account === 'string') return `skipped: no AWS credentials (${account})`;
  const look = async () => {
    const alarms = await account.alarms(`portico-${stage.name}-provision-`);
    const found = alarms.find(({ description }) => description.endsWith('#function-failing.'));
    if (!found) throw new Error(`no alarm of ${functionNameOf(stage, 'provision')}`);
    return found;
  };
  const { name, state, actions } = await look();
  if (state === 'ALARM') throw new Error(`${name} has gone off before: mend what it is about`);
  const beganMs = Date.now();
  for (let tried = 0; ; tried += 1) {
    if (tried === most) throw new Error(`${name} has not gone off after ${most} failures`);
    if (!(await account.invoke(functionNameOf(stage, 'provision'), refusedRequest)))
      throw new Error('provision took it');
    await pause(apartSeconds * 1000);
    if ((await look()).state === 'ALARM') break;
  }
  const told = await toldOf(account, name, { beganMs, apartSeconds });
  if (!told.startsWith('Successfully')) throw new Error(`went off, and nobody was told: ${told}`);
  const subscribers = (await Promise.all(actions.map((topic) => account.subscribers(topic)))).flat();
  const confirmed = subscribers.filter((one) => one.includes('arn:')).length;
  if (stage.alarmEmail && confirmed === 0) throw new Error(`went off; ${stage.alarmEmail} has not confirmed`);
  const minutes = ((Date.now() - beganMs) / 60_000).toFixed(1);
  return `went off after ${minutes} min, and told its topic, which has ${confirmed} confirmed subscribers`;
}

/** CloudWatch notes within seconds what became of an action. */
async function toldOf(
  account: Account,
  alarmName: string,
  { beganMs, apartSeconds }: { beganMs: number; apartSeconds: number },
): Promise<string> {
  for (let tried = 0; tried < 10; tried += 1) {
    const [newest] = await account.actions(alarmName, beganMs);
    if (newest) return newest;
    await pause(apartSeconds * 200);
  }
  return 'no action is in its history';
}
