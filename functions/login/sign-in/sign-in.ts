import { setTimeout as pause } from 'node:timers/promises';
import { builtInClient } from '../../../shared/access/built-in-client.ts';
import { normaliseAddress } from '../../../shared/email/address.ts';
import { textOf } from '../../../shared/index/value.ts';
import { emailLogin, findPerson } from '../../../shared/invitation/person.ts';
import { hashPassword, longestPassword, verifyPassword } from '../../../shared/login/password.ts';
import { passwordHashOf } from '../../../shared/login/password-item.ts';
import { newLoginActions } from '../../../shared/login/person-login.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import { ownerOf } from '../../../shared/table/owner.ts';
import { ConditionFailed } from '../../../shared/table/transact.ts';
import type { LoginServices } from '../external/invitation-of-link.ts';
import { secondFactorOf } from '../second-factor/second-factor.ts';
import { countAttempt } from './attempts.ts';
import { requireRedirect } from './client-of-sign-in.ts';
import { parseSignIn, type SignIn } from './parse-sign-in.ts';
import { choicesWithin, nextStep, type SignInStep } from './sign-in-step.ts';
import { countFromSource } from './source-attempts.ts';

/**
 * Signs a person in with address and password. Unknown address and wrong password: one text, like
 * time. What comes next is said by the answer: a second factor, a choice of memberships, a code.
 * @throws {Refusal} invalid, throttled
 */
export async function signIn(
  services: LoginServices,
  { body, source }: { body: unknown; source: string },
): Promise<SignInStep> {
  const input = parseSignIn(body);
  const email = normaliseAddress(input.email) ?? 'none@none.invalid';
  const takeBack = await countSignIn(services, email, source);
  const { userId, clientProject } = await findUser(services, input, email);
  const passwordKey = keys.password(userId ?? 'none');
  const clientKey = keys.resource(clientProject ?? 'none', 'ClientApplication', input.clientId || 'none');
  const found = await services.table.read([passwordKey, clientKey, keys.mfa(userId ?? 'none')]);
  requireRedirect(services, input, inlineResource('ClientApplication', found.get(clientKey)));
  const hash = passwordHashOf(found.get(passwordKey));
  const matches = await isRight(input.password, hash);
  if (!userId || !matches) throw refused();
  const wanted = input.projectId ?? clientProject;
  const needsMfa = secondFactorOf(userId, found).seed !== undefined;
  const { email: _, password: __, projectId: ___, ...asked } = input;
  const login = { id: services.newId(), userId, onlyProject: wanted, needsMfa, ...asked };
  const choices = await choicesWithin(services, login);
  if (choices.length === 0 || (clientProject && clientProject !== wanted)) throw refused();
  await takeBack();

  await services.table
    .transact([
      ...newLoginActions(login, services.now()),
      // Of a sign-in and a change of the password at the same time, this one loses.
      {
        name: 'password',
        check: passwordKey,
        if: '#hash = :seen',
        names: { '#hash': 'hash' },
        values: { ':seen': hash },
      },
    ])
    .catch((error: unknown) => {
      throw error instanceof ConditionFailed ? refused() : error;
    });
  return nextStep(services, login, choices);
}

/** Counts the try of the address, and of the source over all addresses. @returns takes both back */
async function countSignIn(
  services: LoginServices,
  email: string,
  source: string,
): Promise<() => Promise<void>> {
  const [takeBack, fromSource] = await Promise.all([
    countAttempt(services, email, source),
    countFromSource(services, source, email),
  ]);
  if (fromSource.waitMs > 0) await pause(fromSource.waitMs);
  return async () => {
    await Promise.all([takeBack(), fromSource.takeBack()]);
  };
}

/** The User of the address: one that lives in the Project only, named or the client's, comes first. */
async function findUser(services: Services, { clientId, projectId }: SignIn, email: string) {
  const addressKey = keys.address(email);
  const clientKey = keys.client(clientId || 'none');
  const found = await services.table.read([addressKey, clientKey]);
  const client = found.get(clientKey);
  if (clientId && !client && !builtInClient(clientId)) throw invalidField('clientId', 'Unknown client');
  const clientProject = textOf(client?.project);
  const project = projectId ?? clientProject;
  const person =
    project === undefined ? undefined : await findPerson(services.table, project, emailLogin(email));
  const known = ownerOf(found.get(addressKey));
  return { userId: person?.scope === 'project' ? person.userId : known, clientProject };
}

/** Hashing takes as long as comparing: no password and a wrong one cannot be told apart. */
async function isRight(password: string, hash: string | undefined): Promise<boolean> {
  const given = password.slice(0, longestPassword + 1);
  if (hash !== undefined) return verifyPassword(given, hash);
  await hashPassword(given);
  return false;
}

function refused(): Refusal {
  return new Refusal('invalid', 'Email or password is invalid');
}
