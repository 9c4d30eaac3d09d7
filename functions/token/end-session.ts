import { compactVerify, errors } from 'jose';
import { isId } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { loginOf } from '../../shared/login/login-item.ts';
import { postLogoutRedirectUrisOf } from '../../shared/login/redirect-uri.ts';
import { findClientApplication } from '../../shared/program/find-client.ts';
import { Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import { endAndRecord } from './end-and-record.ts';
import type { TokenServices } from './issue-tokens.ts';

const longestHint = 8192;
const longestParameter = 2000;

/**
 * A client sends a person here to sign out (OpenID Connect RP-Initiated Logout 1.0): the login that the
 * `id_token_hint` is of ends. Without a hint nothing ends: there is no session of the browser's own here.
 * @param parameters of the query or the form
 * @returns where to: the client's registered `post_logout_redirect_uri`, or a page that says what has happened
 * @throws {Refusal} invalid, and then nothing has ended
 */
export async function endSession(services: TokenServices, parameters: URLSearchParams): Promise<string> {
  const names = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'];
  const [hint, clientId, redirectUri, state] = names.map((name) => only(parameters, name));
  const told = hint === undefined ? undefined : await readHint(services, hint);
  if (told && clientId !== undefined && clientId !== told.clientId) {
    throw new Refusal('invalid', 'The id_token_hint is of another client');
  }
  const back =
    redirectUri && (await requireRegistered(services, told?.clientId ?? clientId ?? '', redirectUri));
  if (told) await endHinted(services, told);
  if (!back) return `${services.baseUrl}/app/signed-out`;
  if (state === undefined) return back;
  const url = new URL(back);
  url.searchParams.set('state', state);
  return url.href;
}

interface Hint {
  /** Empty for the own app. */
  clientId: string;
  subject: string;
  /** Undefined in tokens of before these said it. */
  loginId: string | undefined;
}

/** An ID token of ours. It may have expired: it says who is leaving, and opens nothing. */
async function readHint({ publicKeys, baseUrl }: TokenServices, hint: string): Promise<Hint> {
  const refused = new Refusal('invalid', 'The id_token_hint is not valid');
  if (hint.length > longestHint) throw refused;
  try {
    const { payload, protectedHeader } = await compactVerify(
      hint,
      async ({ kid }) => {
        const key = typeof kid === 'string' && kid.length <= 64 ? await publicKeys.find(kid) : undefined;
        if (!key) throw refused;
        return key;
      },
      { algorithms: ['RS256'] },
    );
    const { iss, aud, sub, sid } = fieldsOf(JSON.parse(new TextDecoder().decode(payload)));
    const isOurs = protectedHeader.typ === 'JWT' && iss === baseUrl;
    if (!isOurs || typeof aud !== 'string' || typeof sub !== 'string') throw refused;
    return { clientId: aud, subject: sub, loginId: typeof sid === 'string' && isId(sid) ? sid : undefined };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refused;
    throw error;
  }
}

async function endHinted(services: TokenServices, { clientId, subject, loginId }: Hint): Promise<void> {
  if (loginId === undefined) return;
  const key = keys.login(loginId);
  const login = loginOf((await services.table.read([key])).get(key));
  if (login?.subject === subject && login.clientId === clientId) await endAndRecord(services, login);
}

/** Nobody is sent to a page that the client has not registered for this, character for character. */
async function requireRegistered(
  { table }: TokenServices,
  clientId: string,
  redirectUri: string,
): Promise<string> {
  const found = await findClientApplication(table, clientId);
  if (found && postLogoutRedirectUrisOf(found.client).includes(redirectUri)) return redirectUri;
  throw new Refusal('invalid', 'The post_logout_redirect_uri is not one of the client');
}

/** Undefined for a parameter that is missing or empty. @throws {Refusal} invalid for one that is repeated or too long */
function only(parameters: URLSearchParams, name: string): string | undefined {
  const [value, another] = parameters.getAll(name);
  const longest = name === 'id_token_hint' ? longestHint : longestParameter;
  if (another !== undefined || (value?.length ?? 0) > longest) {
    throw new Refusal('invalid', `${name} is repeated or too long`);
  }
  return value || undefined;
}
