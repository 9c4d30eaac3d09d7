import { string } from 'valibot';
import { inParallel } from '../../base/in-parallel.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { anyText, fields, optionalField, parse, readText } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, OutcomeUnknown, orThrow } from '../../carry/table/transact.ts';
import { projectIdOf } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { byActor, ownUser } from '../audit/audit-event.ts';
import { record } from '../audit/record.ts';
import type { Subtype } from '../audit/subtypes.ts';
import { type Caller, unauthorized } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { acceptActions } from '../invitations/accept.ts';
import { membershipsOf } from '../invitations/choices.ts';
import { addressOf, emailLogin, externalLogin, findPerson, membershipKeys } from '../invitations/person.ts';
import { normaliseAddress } from '../mail/address.ts';
import type { MailKind } from '../mail/letters.ts';
import { countAttempt, countReset } from './attempts.ts';
import { type PasswordOfLink, resetPasswordBody, setPasswordBody } from './bodies.ts';
import { deadLink, type LoginServices, requireLink } from './invitation-of-link.ts';
import { isLinkSecret, parseResetId, resetLink, resetMs } from './links.ts';
import { emailOf, requireOwnLogin } from './logins.ts';
import { hashPassword, parseNewPassword, passwordHashOf, replacePassword } from './password.ts';
import { provePassword } from './proof.ts';

/**
 * Uses the link of a password reset, once: all of the person's logins end, no invitation is accepted. Each Project that they
 * are a member of has an entry of it.
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
  const ring = services.keyRings['reset-link'];
  const isLive =
    email !== undefined &&
    passwordHash !== undefined &&
    (await isLinkSecret(ring, resetLink({ ...link, email, passwordHash }), secret));
  if (!isLive) throw deadLink();
  const password = await parseNewPassword(given, { email });
  // Who has left an address meanwhile is not reached by what was mailed there.
  const addressed: Action = {
    ...{ name: 'address', check: userKey, if: '#email = :email' },
    ...{ names: { '#email': 'email' }, values: { ':email': email } },
  };
  const chosen = { password, seenHash: passwordHash, email, provided: [addressed] };
  await replacePassword(services, link.userId, chosen).catch(orThrow(deadLink));
  await recordOfPerson(services, link.userId, 'reset-password');
}

/** What somebody has done who is in no Project yet: an entry in each that they are a member of. */
export async function recordOfPerson(services: Services, userId: string, subtype: Subtype): Promise<void> {
  const memberships = await membershipsOf(services, userId);
  const byProject = new Map(memberships.map((one) => [projectIdOf(one), one]));
  await inParallel(byProject, 5, ([project, { profile, user }]) =>
    record(services, { project, subtype, action: 'U', agent: profile, entities: [user] }),
  );
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
  const stored = passwordHashOf(await readItem(services.table, passwordKey));
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
  const credential: Action[] = [];
  if (chosen !== undefined) {
    const put = { ...passwordKey, hash: await hashPassword(chosen, { source }) };
    credential.push({ name: 'password', put, if: 'attribute_not_exists(pk)' });
  }
  const actions = [...acceptActions(services, standing), ...credential];
  await services.table.transact(actions).catch((error: unknown) => {
    if (!(error instanceof OutcomeUnknown)) return orThrow(deadLink)(error);
    throw new Refusal('conflict', 'It may have been done: try to sign in', { reason: error.cause });
  });
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
  const refused = (failed: ReadonlySet<string>) =>
    failed.has('login') ? unauthorized('login ended') : changedMeanwhile();
  const chosen = { password, seenHash, email, keep: caller.loginId };
  await replacePassword(services, caller.subject, chosen).catch(orThrow(refused));
  const event = { subtype: 'change-password', action: 'U', entities: [ownUser(actor)] } as const;
  await record(services, { ...byActor(actor), ...event });
}

function changedMeanwhile(): Refusal {
  return new Refusal('conflict', 'The password was changed meanwhile');
}

const emailText = 'Valid email address is required';

export const setMemberPasswordBody = fields({
  email: optionalField(readText(emailText, normaliseAddress)),
  externalId: optionalField(string(emailText)),
  password: anyText,
});

/**
 * Sets the password of a User that lives in this Project only; its logins end. Above Projects a password
 * is the user's own. It is root's to set: whoever knows it has all that the person comes to hold.
 * @param body `{email, password}`, or `externalId` instead of the address
 * @throws {Refusal} not-found, invalid, conflict
 */
export async function setMemberPassword(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<void> {
  const { email, externalId, password: given } = parse(setMemberPasswordBody, body);
  const { project } = caller;
  const name = nameOf(email, externalId);
  const { actor } = await admit(services, caller, []);
  const person = await findPerson(services.table, project, name);
  if (!person) throw new Refusal('not-found', 'Not found');
  if (person.scope !== 'project') {
    throw new Refusal('invalid', 'Only the user may set the password of a user above Projects');
  }
  const [passwordKey, userKey] = [keys.password(person.userId), keys.user(person.userId)];
  const memberKeys = membershipKeys(project, person);
  const stored = await services.table.read([passwordKey, userKey, ...memberKeys]);
  const [member] = memberKeys.flatMap((key) => inlineResource('ProjectMembership', stored.get(key)) ?? []);
  const seenHash = passwordHashOf(stored.get(passwordKey));
  const address = emailOf(stored.get(userKey));
  const password = await parseNewPassword(given, { email: address });
  const chosen = { password, seenHash, email: address };
  await replacePassword(services, person.userId, chosen).catch(orThrow(changedMeanwhile));
  const entities = [member?.user ?? { reference: `User/${person.userId}` }];
  await record(services, { ...byActor(actor), subtype: 'set-password', action: 'U', entities });
}

function nameOf(email: string | undefined, externalId: string | undefined): string {
  if (email !== undefined) return emailLogin(email);
  if (externalId) return externalLogin(externalId);
  throw invalidField('email', emailText);
}
