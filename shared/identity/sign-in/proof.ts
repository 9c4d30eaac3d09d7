import { invalidField, Refusal } from '../../base/refusal.ts';
import { optionalText } from '../../base/schema.ts';
import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { auditAction, ownUser } from '../audit/audit-event.ts';
import type { Actor } from '../gate/actor.ts';
import type { Issuers } from '../issuers/issuers.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { countAttempt } from './attempts.ts';
import { emailOf, isAlive, type Login, loginOf, noticeActions } from './logins.ts';
import { longestPassword, passwordHashOf, unchangedPassword, verifyPassword } from './password.ts';
import { countCode, recoveryHash, secondFactorOf, useCodeAction, wrongCode } from './second-factor.ts';

/** What it takes to do what a person asks of their own account. */
export interface AccountServices extends Services {
  issuers: Issuers;
  keyRings: KeyRings<'totp' | 'drafts' | 'external-sign-in'>;
}

/** Of bodies by which a person who is signed in shows again who they are: with either, or both. */
export const proofEntries = {
  password: optionalText('password', 2000),
  /** Six digits of their second factor, or a recovery code. */
  token: optionalText('token', 100),
};

export interface Proof {
  password?: string | undefined;
  token?: string | undefined;
}

type Proving = Pick<Actor, 'project' | 'membership' | 'subject' | 'profile' | 'emergency'>;

export const proofKeys = (userId: string): Key[] => [
  keys.password(userId),
  keys.mfa(userId),
  keys.user(userId),
];

/**
 * Wrong passwords are counted by person and source, wrong codes by person, apart from those of a sign-in: whoever has
 * no session of the person cannot use them up.
 * @param found has `proofKeys`
 * @param proof.actor whose Project is told when a recovery code stands for the phone
 * @returns for the transaction of what is proven for: the password is still that one, the code is used up with it; and
 *   what takes the try of a code back, once that is written
 * @throws {Refusal} invalid, naming `password` or `token`; throttled
 */
export async function prove(
  services: Services & { keyRings: KeyRings<'totp'> },
  found: Found,
  { actor, source, password, token }: Proof & { actor: Proving; source: string },
): Promise<{ actions: Action[]; takeBack(): Promise<void> }> {
  if (password === undefined && token === undefined)
    throw invalidField('password', 'Give your password, or a code of your second factor');
  const wrong = invalidField('password', 'The password is not right');
  const userId = actor.subject;
  const given = { userId, hash: passwordHashOf(found.get(keys.password(userId))), source };
  const actions =
    password === undefined ? [] : [await provePassword(services, { ...given, password }, wrong)];
  if (token === undefined) return { actions, takeBack: async () => undefined };
  const takeBack = await countCode(services, userId, 'session');
  const nowMs = services.now();
  const factor = secondFactorOf(userId, found);
  actions.push(await useCodeAction(services.keyRings.totp, factor, { code: token, nowMs }));
  if (recoveryHash(userId, token) !== undefined) {
    const email = emailOf(found.get(keys.user(userId)));
    actions.push(...noticeActions('recovery-code-used', { userId, email, nowMs }));
    actions.push(recoveredAction(services, actor));
  }
  return { actions, takeBack };
}

/**
 * @param given.hash of the password that they have; undefined for who has none
 * @param wrong what is answered to another one
 * @returns for the transaction: it is still that one. Named `password` when it fails
 * @throws {Refusal} wrong; throttled
 */
export async function provePassword(
  services: Services,
  {
    userId,
    hash,
    password,
    source,
  }: { userId: string; hash: string | undefined; password: string; source: string },
  wrong: Refusal,
): Promise<Action> {
  const takeBack = await countAttempt(services, userId, source);
  const given = password.slice(0, longestPassword + 1);
  if (hash === undefined || !(await verifyPassword(given, hash, { source }))) throw wrong;
  await takeBack();
  return unchangedPassword(userId, hash);
}

/** For a transaction that was proven for: of a password or a code that was good a moment ago nothing else is told. */
export function refuseProof(failed: ReadonlySet<string>): void {
  if (failed.has('password')) throw invalidField('password', 'The password was changed meanwhile');
  if (failed.has('second factor')) throw wrongCode();
}

/** The login of a caller who may show again who they are. @throws {Refusal} forbidden */
export function requirePersonal({ login: item, scope }: Pick<Actor, 'login' | 'scope'>): Login {
  const login = loginOf(item);
  if (login?.kind === 'person' && !isForResourcesOnly(scope)) return login;
  throw new Refusal('forbidden', 'Only a person shows again who they are; a program asks for another token');
}

/** Tells the Project that a recovery code stood for the phone. */
export function recoveredAction(services: Pick<Services, 'newId' | 'now'>, actor: Proving): Action {
  const event = { subtype: 'use-recovery-code', action: 'E', entities: [ownUser(actor)] } as const;
  return auditAction(services, actor, event);
}

/** The person of a login has shown again who they are, if it has not ended meanwhile: named `login` when it has. */
export function renewActions(
  services: Pick<Services, 'newId' | 'now'>,
  actor: Proving & Pick<Actor, 'loginId'>,
  atMs: number,
): Action[] {
  const event = { subtype: 'reauthenticate', action: 'E', entities: [ownUser(actor)] } as const;
  return [
    {
      ...{ name: 'login', update: keys.login(actor.loginId), if: isAlive },
      ...{ set: 'SET signedInAtMs = :at', values: { ':at': atMs } },
    },
    auditAction(services, actor, event),
  ];
}
