import { invalidField, Refusal } from '../../base/refusal.ts';
import { parse } from '../../base/schema.ts';
import { ownerOfAddress } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { textOf } from '../../store/index/value.ts';
import { inlineResource } from '../../store/items/content.ts';
import { builtInClient } from '../gate/access-token.ts';
import { choicesWithin } from '../invitations/choices.ts';
import { emailLogin, findPerson } from '../invitations/person.ts';
import { normaliseAddress } from '../mail/address.ts';
import {
  admitFromSource,
  countAttempt,
  type SourceServices,
  type SourceTry,
  sourceKeys,
  type Tried,
} from './attempts.ts';
import { parseSignIn, requireRedirect, type SignIn } from './authorize.ts';
import { methodBody } from './bodies.ts';
import type { LoginServices } from './invitation-of-link.ts';
import {
  type HashingTurn,
  hashPassword,
  longestPassword,
  passwordHashOf,
  unchangedPassword,
  verifyPassword,
} from './password.ts';
import { beginLogin } from './person-login.ts';
import { secondFactorOf } from './second-factor.ts';
import { nextStep, type SignInStep } from './sign-in-step.ts';

/**
 * Signs a person in with address and password. Unknown address and wrong password: one text, like
 * time. What comes next is said by the answer: a second factor, a choice of memberships, a code.
 * @throws {Refusal} invalid, throttled
 */
export async function signIn(
  services: LoginServices & SourceServices,
  { body, source }: { body: unknown; source: string },
): Promise<SignInStep> {
  const input = parseSignIn(body);
  const email = normaliseAddress(input.email) ?? 'none@none.invalid';
  const tried = { source, address: email, password: input.password };
  const { userId, clientProject, sourceTry } = await findUser(services, input, tried);
  const passwordKey = keys.password(userId ?? 'none');
  const clientKey = keys.resource(clientProject ?? 'none', 'ClientApplication', input.clientId || 'none');
  const [found, takeBack] = await Promise.all([
    services.table.read([passwordKey, clientKey, keys.mfa(userId ?? 'none')]),
    countAttempt(services, email, source),
  ]);
  requireRedirect(services, input, inlineResource('ClientApplication', found.get(clientKey)));
  const hash = passwordHashOf(found.get(passwordKey));
  const matches = await isRight(input.password, hash, sourceTry.turn);
  if (!userId || hash === undefined || !matches) return fail(sourceTry);
  const wanted = input.projectId ?? clientProject;
  const needsMfa = secondFactorOf(userId, found).seed !== undefined;
  const { email: _, password: __, projectId: ___, ...asked } = input;
  const login = { id: services.newId(), userId, onlyProject: wanted, needsMfa, ...asked };
  const choices = await choicesWithin(services, login);
  if (choices.length === 0 || (clientProject && clientProject !== wanted)) return fail(sourceTry);
  await Promise.all([takeBack(), sourceTry.signedIn()]);

  await beginLogin(services, login, [unchangedPassword(userId, hash)]).catch(orThrow(refused));
  return nextStep(services, login, choices);
}

/**
 * The User of the address: one that lives in the Project only, named or the client's, comes first. Looked for only
 * where the source may go on.
 */
async function findUser(services: SourceServices, { clientId, projectId }: SignIn, tried: Tried) {
  const { address: email } = tried;
  const addressKey = keys.address(email);
  const clientKey = keys.client(clientId || 'none');
  const found = await services.table.read([addressKey, clientKey, ...sourceKeys(services, tried)]);
  const sourceTry = await admitFromSource(services, tried, found);
  const client = found.get(clientKey);
  if (clientId && !client && !builtInClient(clientId)) throw invalidField('clientId', 'Unknown client');
  const clientProject = textOf(client?.project);
  const project = projectId ?? clientProject;
  const person =
    project === undefined ? undefined : await findPerson(services.table, project, emailLogin(email));
  const known = ownerOfAddress(found.get(addressKey));
  return { userId: person?.scope === 'project' ? person.userId : known, clientProject, sourceTry };
}

/** Hashing takes as long as comparing: no password and a wrong one cannot be told apart. */
async function isRight(password: string, hash: string | undefined, turn: HashingTurn): Promise<boolean> {
  const given = password.slice(0, longestPassword + 1);
  if (hash !== undefined) return verifyPassword(given, hash, turn);
  await hashPassword(given, turn);
  return false;
}

async function fail(sourceTry: SourceTry): Promise<never> {
  await sourceTry.failed();
  throw refused();
}

function refused(): Refusal {
  return new Refusal('invalid', 'Email or password is invalid');
}

/**
 * How somebody with this address signs in, as sign-in forms of this field ask before the password: `{}`, with
 * the form itself. Which issuer a person needs is told by their memberships, and those by no address: the answer
 * is the same for every one.
 * @param body `{email}`
 * @throws {Refusal} invalid for what is no address
 */
export function readMethod(body: unknown): object {
  parse(methodBody, body);
  return {};
}
