import { acceptActions } from '../../../shared/invitation/accept.ts';
import { addressOf } from '../../../shared/invitation/person.ts';
import { parseNewPassword } from '../../../shared/login/parse-password.ts';
import { hashPassword, verifyPassword } from '../../../shared/login/password.ts';
import { passwordHashOf } from '../../../shared/login/password-item.ts';
import { parseResetId } from '../../../shared/login/reset-link.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Action, ConditionFailed, OutcomeUnknown } from '../../../shared/table/transact.ts';
import { type PasswordOfLink, setPasswordBody } from '../bodies.ts';
import { deadLink, type LoginServices, requireLink } from '../external/invitation-of-link.ts';
import { countAttempt } from '../sign-in/attempts.ts';
import { replaceForgotten } from './replace-forgotten.ts';

/**
 * What the page behind a mailed link posts: it accepts an invitation, or replaces a forgotten password.
 * @param input.body `{id, secret, password}`, id and secret from the link's fragment
 * @throws {Refusal} throttled, invalid; one text for a link that is expired, revoked, superseded or made up
 */
export async function setPassword(
  services: LoginServices,
  input: { body: unknown; source: string },
): Promise<void> {
  const fields = parse(setPasswordBody, input.body);
  return parseResetId(fields.id)
    ? replaceForgotten(services, fields)
    : acceptInvitation(services, fields, input.source);
}

/**
 * Accepts an invitation by its link. A person without a password chooses one; a person who has one
 * proves it: a link never changes the credentials of a User that exists.
 */
async function acceptInvitation(
  services: LoginServices,
  fields: PasswordOfLink,
  source: string,
): Promise<void> {
  const standing = await requireLink(services, fields);
  const passwordKey = keys.password(standing.userId);
  const stored = passwordHashOf((await services.table.read([passwordKey])).get(passwordKey));
  const chosen =
    stored === undefined
      ? await parseNewPassword(fields.password, { email: addressOf(standing.login) })
      : undefined;
  if (stored !== undefined) {
    const takeBack = await countAttempt(services, standing.userId, source);
    await requirePassword(fields.password, stored);
    await takeBack();
  }
  if (typeof standing.membership.authentication === 'object') {
    throw new Refusal('invalid', 'This invitation is accepted by signing in with its issuer');
  }
  const credential: Action[] =
    chosen !== undefined
      ? [
          {
            name: 'password',
            put: { ...passwordKey, hash: await hashPassword(chosen) },
            if: 'attribute_not_exists(pk)',
          },
        ]
      : [];
  try {
    await services.table.transact([...acceptActions(services, standing), ...credential]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw deadLink();
    if (error instanceof OutcomeUnknown) {
      throw new Refusal('conflict', 'It may have been done: try to sign in', { reason: error.cause });
    }
    throw error;
  }
}

async function requirePassword(password: string, hash: string): Promise<void> {
  const isShort = password.length <= 1024;
  if (isShort && (await verifyPassword(password, hash))) return;
  throw new Refusal('invalid', 'You have a password already: accept with that one', {
    issues: [{ expression: 'password', text: 'You have a password already: accept with that one' }],
  });
}
