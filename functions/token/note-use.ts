import { errorName } from '../../shared/error-name.ts';
import { signedInAction } from '../../shared/invitation/accept.ts';
import type { Credential } from '../../shared/keys/credential.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';

const noteMs = 60 * 60 * 1000;

/**
 * Notes that a client was used, once an hour at most: for its administrators, who look for keys that nobody needs.
 * Runs beside what the request writes anyway. Nobody is refused a token because of it.
 */
export async function noteUse(
  { table, now, log }: Pick<Services, 'table' | 'now' | 'log'>,
  clientId: string,
  credential: Credential | undefined,
): Promise<void> {
  if (!credential || (credential.usedAtMs ?? 0) > now() - noteMs) return;
  const { project, membershipId, usedAtMs: seen } = credential;
  try {
    await table.transact([
      {
        name: 'used',
        update: keys.client(clientId),
        set: 'SET usedAtMs = :now',
        // Of requests that come at once one notes it; a client that is deleted does not come back.
        if:
          seen === undefined ? 'attribute_exists(pk) AND attribute_not_exists(usedAtMs)' : 'usedAtMs = :seen',
        values: { ':now': now(), ...(seen === undefined ? {} : { ':seen': seen }) },
      },
      signedInAction(project, membershipId, now()),
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed))
      log.error('use of a client not noted', { error: errorName(error) });
  }
}
