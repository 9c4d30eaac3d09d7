import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import {
  cancelledBy,
  isRunKey,
  keyOfWaiting,
  requestCancel,
} from '../../../shared/bot/cancel/cancel-request.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';

/**
 * Cancels the run that the same member started with this `X-Run-Key` and waits for, and the runs that it waits
 * for in turn. Whether it still could be stopped is in the answer to the run itself.
 * @throws {Refusal} not-found for what is no key
 */
export async function cancelRun(services: Services, caller: Caller, { id }: { id: string }): Promise<void> {
  const { actor } = await admit(services, caller, []);
  if (!isRunKey(id)) throw new Refusal('not-found', 'Not found');
  await requestCancel(services, actor, keyOfWaiting(actor.membershipId, id));
}

/**
 * Asked by the sandbox with the token of a run: whether that run is to end.
 * @throws {Refusal} not-found for everybody else
 */
export async function readRun(
  services: Services,
  caller: Caller,
  { id }: { id: string },
): Promise<{ status: 'active' | 'cancelled' }> {
  await admit(services, caller, []);
  const { run, project } = caller;
  if (run === undefined || run.id !== id) throw new Refusal('not-found', 'Not found');
  const isCancelled = (await cancelledBy(services.table, project, run.cancelKeys ?? [])) !== undefined;
  return { status: isCancelled ? 'cancelled' : 'active' };
}
