import { object, string } from 'valibot';
import type { Actor } from '../../access/actor.ts';
import { agentOf } from '../../audit/who.ts';
import { invalidField } from '../../refusal.ts';
import { stored } from '../../schema/stored.ts';
import type { Services } from '../../services.ts';
import { keys } from '../../table/keys.ts';

/** Longer than the longest run, jobs included. */
const keptSeconds = 1800;

/** @param header `X-Run-Key`, by which its sender may cancel a run that it waits for. @throws {Refusal} invalid */
export function parseRunKey(header: string | undefined): string | undefined {
  if (header === undefined || isRunKey(header)) return header;
  throw invalidField('X-Run-Key', 'X-Run-Key must be 8 to 64 letters, digits, _ or -');
}

export function isRunKey(text: string): boolean {
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
