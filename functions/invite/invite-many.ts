import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inviteUser } from './invite-user.ts';
import { parseBulk } from './parse-bulk.ts';

/** What became of one row; rows count from 1, a header left out. */
export type RowResult = { row: number } & ({ membership: Resource } | { error: unknown });

/** More would only wait for each other in one process. */
const atOnce = 8;
/** A row that has not begun by then is left to a repeat: the whole is answered before 29 s. */
const beginWithinMs = 20_000;

interface Numbered {
  row: number;
  body: unknown;
}

/**
 * Invites row by row, each as `inviteUser` does alone. Rows of one person are carried out in their
 * order, others beside each other. The same file again changes nothing that stands.
 * @throws {Refusal} what is wrong with the file; what is wrong with a row is its own result
 */
export async function inviteMany(
  services: Services,
  caller: Caller<'administrator'>,
  file: { contentType: string | undefined; bytes: Buffer | undefined },
): Promise<RowResult[]> {
  const startedAtMs = services.now();
  await admit(services, caller, []);
  const rows = await parseBulk(file.contentType, file.bytes);
  const results: RowResult[] = [];
  const invites = rows.flatMap((one, i): Numbered[] => {
    const row = i + 1;
    if (one.kind === 'refused') results.push({ row, error: one.refusal });
    return one.kind === 'invite' ? [{ row, body: one.body }] : [];
  });
  const work = Map.groupBy(invites, ({ row, body }) => personOf(body) ?? row).values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const ofOne of work) for (const one of ofOne) results.push(await inviteOne(one));
    }),
  );
  return results.sort((a, b) => a.row - b.row);

  async function inviteOne({ row, body }: Numbered): Promise<RowResult> {
    if (services.now() - startedAtMs > beginWithinMs) return { row, error: notBegun() };
    try {
      return { row, membership: await inviteUser(services, caller, body) };
    } catch (error) {
      return { row, error };
    }
  }
}

/** Whom a row is about, as far as that can be told before it is checked. */
function personOf(body: unknown): string | undefined {
  const { email, externalId } = fieldsOf(body);
  if (typeof email === 'string') return `E:${normaliseAddress(email) ?? email}`;
  return typeof externalId === 'string' ? `X:${externalId}` : undefined;
}

function notBegun(): Refusal {
  return new Refusal('unavailable', 'There was no time left for this row: send it again', {
    retryAfterSeconds: 1,
  });
}
