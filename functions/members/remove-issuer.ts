import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { issuerAudit } from './add-issuer.ts';

/**
 * The Project trusts an issuer no more: nobody signs in with it from now on, nothing is refreshed, and
 * tokens that were issued end within the hour.
 * @throws {Refusal} not-found
 */
export async function removeIssuer(
  services: Services,
  caller: Caller<'administrator'>,
  { issuerId }: { issuerId: string },
): Promise<void> {
  const { actor } = await admit(services, caller, []);
  const notFound = new Refusal('not-found', 'Not found');
  if (!isId(issuerId)) throw notFound;
  try {
    await services.table.transact([
      { name: 'issuer', remove: keys.issuer(caller.project, issuerId), if: 'attribute_exists(pk)' },
      issuerAudit(services, actor, 'remove-issuer', issuerId),
    ]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw notFound;
    throw error;
  }
}
