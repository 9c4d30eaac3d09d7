import { sweepCutOff } from '../../shared/store/sweep-cut-off.ts';
import type { Item } from '../../shared/table/item.ts';
import type { Key } from '../../shared/table/keys.ts';
import { classify } from '../check-table/check-item.ts';
import { keepStageKeys } from './keep-stage-keys.ts';
import type { Prepared, Recovery } from './recovery.ts';
import { stepsFor } from './steps.ts';

/**
 * Makes a restored table fit to be used: every sign-in has ended, no link of a mail opens anything, no mail waits, and
 * Bots, Subscriptions and schedules of every Project are stopped until somebody lets them go on. Doing it again does no harm.
 */
export async function prepareRestored(recovery: Recovery): Promise<Prepared> {
  const prepared: Prepared = {
    ...{ items: 0, loginsEnded: 0, invitationsEnded: 0, mailsDropped: 0, projectsPaused: 0, projects: [] },
    ...{ exportsDropped: 0, deliveriesEnded: 0, deliveriesWaiting: 0 },
    ...{ credentialsKept: 0, membershipsEnded: 0, open: [] },
  };
  let from: Key | undefined;
  do {
    const page = await recovery.scan(from);
    for (const item of page.items) await prepare(recovery, item, prepared);
    from = page.next;
  } while (from);
  await keepStageKeys(recovery);
  // Once all steps are done: a write that was cut off then is undone.
  const { failed } = await sweepCutOff(recovery);
  if (failed.length > 0) throw new Error(`Writes that were cut off are left: ${failed.join(', ')}`);
  return prepared;
}

async function prepare(recovery: Recovery, item: Item, prepared: Prepared): Promise<void> {
  prepared.items += 1;
  const found = classify(item);
  if (!found) return;
  for (const step of stepsFor(found.pattern, found.named.type)) await step(recovery, item, prepared);
}
