import { endLogin } from '../../../shared/login/end-login.ts';
import { idOfLogin, type Login } from '../../../shared/login/login-item.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { countAttempt } from '../sign-in/attempts.ts';

/** A login that is not finished may try so often; after that the password has to be given again. */
const mostInOneLogin = 5;

/**
 * Counts a try of a person's second factor, from wherever it comes: a code has six digits only. Who can
 * try at all has the person's password.
 * @returns takes the try back: it was the right code
 * @throws {Refusal} throttled
 */
export function countCode(services: Services, userId: string): Promise<() => Promise<void>> {
  return countAttempt(services, `second factor ${userId}`, 'anywhere');
}

/** The same in a login that waits for it, which ends with the sixth. @throws {Refusal} invalid, throttled */
export async function countCodeOfLogin(services: Services, login: Login): Promise<() => Promise<void>> {
  const counted = await services.table.updateIf({
    Key: { pk: login.pk, sk: login.sk },
    UpdateExpression: 'ADD codes :one',
    // One that was erased since it was read does not come back as a number.
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'UPDATED_NEW',
  });
  if (!counted.held) throw new Refusal('invalid', 'Sign in again');
  if (Number(counted.attributes.codes) > mostInOneLogin) {
    await endLogin(services.table, idOfLogin(login));
    throw new Refusal('invalid', 'Sign in again');
  }
  return countCode(services, login.subject);
}
