import { object, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { agentOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';

/** Longer than the longest run, jobs included. */
const keptSeconds = 1800;

/** @param header `X-Run-Key`, by which its sender may cancel a run that it waits for. @throws {Refusal} invalid */
export function parseRunKey(header: string | undefined): string | undefined {
  if (header === undefined || isRunKey(header)) return header;
  throw invalidField('X-Run-Key', 'X-Run-Key must be 8 to 64 letters, digits, _ or -');
}

function isRunKey(text: string): boolean {
  return /^[\w-]{8,64}$/.test(text);
}

/** What a run is cancelled by while its caller waits: nobody else's key is the same. */
export function keyOfWaiting(membershipId: string, runKey: string): string {
  return `${membershipId}.${runKey}`;
}

/** What a job is cancelled by. */
export function keyOfJob(jobId: string): string {
  return `job#${jobId}`;
}

/** Notes that a run is to end, and who said so first: whoever runs it asks. Inert when no such run is under way. */
export async function requestCancel(
  { table, now }: Pick<Services, 'table' | 'now'>,
  actor: Actor,
  cancelKey: string,
): Promise<void> {
  const nowSeconds = Math.floor(now() / 1000);
  const { reference, display = '' } = agentOf(actor);
  await table.putIf(
    {
      ...keys.cancelledRun(actor.project, cancelKey),
      ...{ by: reference, name: display, ttl: nowSeconds + keptSeconds },
    },
    {
      ConditionExpression: 'attribute_not_exists(pk) OR #ttl <= :now',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': nowSeconds },
    },
  );
}

const readRequest = stored('cancelled run', object({ by: string(), name: string() }));

/** Who cancelled a run, by any of the keys that end it. */
export async function cancelledBy(
  table: Services['table'],
  project: string,
  cancelKeys: readonly string[],
): Promise<{ reference: string; name: string } | undefined> {
  const wanted = cancelKeys.map((key) => keys.cancelledRun(project, key));
  const found = await table.read(wanted);
  const first = wanted.map((key) => found.get(key)).find((item) => item !== undefined);
  if (!first) return undefined;
  const { by, name } = readRequest(first);
  return { reference: by, name };
}

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
