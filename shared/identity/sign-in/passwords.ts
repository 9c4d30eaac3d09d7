import { invalidField, Refusal } from '../../base/refusal.ts';
import { anyText, fields, parse } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, ConditionFailed, OutcomeUnknown } from '../../carry/table/transact.ts';
import { agentOf, ownUser } from '../audit/audit-event.ts';
import { record } from '../audit/record.ts';
import { type Caller, unauthorized } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { acceptActions } from '../invitations/accept.ts';
import { addressOf } from '../invitations/person.ts';
import type { MailKind } from '../mail/letters.ts';
import { countAttempt, countReset } from './attempts.ts';
import { type PasswordOfLink, resetPasswordBody, setPasswordBody } from './bodies.ts';
import { deadLink, type LoginServices, requireLink } from './invitation-of-link.ts';
import { isResetSecret, parseResetId, resetMs } from './links.ts';
import { emailOf, requireOwnLogin } from './logins.ts';
import { hashPassword, parseNewPassword, passwordHashOf } from './password.ts';
import { provePassword } from './proof.ts';
import { replacePassword } from './replace-password.ts';

/**
 * Uses the link of a password reset, once: all of the person's logins end, no invitation is accepted.
 * @throws {Refusal} invalid, one text for every link that is not live
 */
export async function replaceForgotten(
  services: LoginServices,
  { id, secret, password: given }: PasswordOfLink,
): Promise<void> {
  const link = parseResetId(id);
  if (!link || link.expiresAtMs <= services.now()) throw deadLink();
  const userKey = keys.user(link.userId);
  const passwordKey = keys.password(link.userId);
  const found = await services.table.read([userKey, passwordKey]);
  const email = emailOf(found.get(userKey));
  const passwordHash = passwordHashOf(found.get(passwordKey));
  const isLive =
    email !== undefined &&
    passwordHash !== undefined &&
    (await isResetSecret(services.keyRings['reset-link'], { ...link, email, passwordHash }, secret));
  if (!isLive) throw deadLink();
  const password = await parseNewPassword(given, { email });
  try {
    await replacePassword(services, link.userId, {
      ...{ password, seenHash: passwordHash, email },
      // Who has left an address meanwhile is not reached by what was mailed there.
      provided: [
        {
          name: 'address',
          check: userKey,
          if: '#email = :email',
          names: { '#email': 'email' },
          values: { ':email': email },
        },
      ],
    });
  } catch (error) {
    if (error instanceof ConditionFailed) throw deadLink();
    throw error;
  }
}

/**
 * Somebody has forgotten their password: leaves a mail in the outbox, which looks up whether anybody
 * has the address. Here nothing is looked up, so known and unknown addresses cannot be told apart.
 * @param input.body `{email, projectId?}`, the Project for a User that lives in one only
 * @throws {Refusal} invalid, throttled
 */
export async function resetPassword(
  services: Services,
  { body, source }: { body: unknown; source: string },
): Promise<void> {
  const { email, projectId: project } = parse(resetPasswordBody, body);
  await Promise.all([countAttempt(services, `reset ${email}`, source), countReset(services, source, email)]);
  const nowMs = services.now();
  await services.table.put({
    ...keys.resetMail(email, project),
    kind: 'reset' satisfies MailKind,
    email,
    project,
    generation: nowMs,
    ttl: Math.ceil((nowMs + resetMs) / 1000),
  });
}

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
    const shown = { userId: standing.userId, hash: stored, password: fields.password, source };
    const wrong = invalidField('password', 'You have a password already: accept with that one');
    await provePassword(services, shown, wrong);
  }
  if (typeof standing.membership.authentication === 'object') {
    throw new Refusal('invalid', 'This invitation is accepted by signing in with its issuer');
  }
  const credential: Action[] =
    chosen !== undefined
      ? [
          {
            name: 'password',
            put: { ...passwordKey, hash: await hashPassword(chosen, { source }) },
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

export const changePasswordBody = fields({ oldPassword: anyText, newPassword: anyText });

/**
 * A person changes their password; their other logins end.
 * @param input.body `{oldPassword, newPassword}`
 * @throws {Refusal} invalid, throttled; conflict, unauthorized when it, or the login, was ended by somebody else
 *   meanwhile; forbidden for logins that do not speak for the whole person
 */
export async function changePassword(
  services: Services,
  caller: Caller,
  { body, source }: { body: unknown; source: string },
): Promise<void> {
  const { oldPassword, newPassword } = parse(changePasswordBody, body);
  const passwordKey = keys.password(caller.subject);
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [passwordKey, userKey]);
  requireOwnLogin(actor.login);
  const email = emailOf(found.get(userKey));
  const password = await parseNewPassword(newPassword, { field: 'newPassword', email });
  const seenHash = passwordHashOf(found.get(passwordKey));
  const shown = { userId: caller.subject, hash: seenHash, password: oldPassword, source };
  await provePassword(services, shown, invalidField('oldPassword', 'The old password is not right'));
  try {
    await replacePassword(services, caller.subject, { password, seenHash, email, keep: caller.loginId });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.failed.has('login')) throw unauthorized('login ended');
    throw new Refusal('conflict', 'The password was changed meanwhile');
  }
  await record(services, {
    project: caller.project,
    subtype: 'change-password',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [ownUser(actor)],
  });
}
