import { hash } from 'node:crypto';
import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { array, boolean, exactOptional, type InferInput, number, object, string } from 'valibot';
import type { Recent } from '../../base/recent.ts';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import { errorCode } from '../../base/values.ts';
import type { Bounds, Right, SignInRule } from '../../carry/http/routes.ts';
import { isMac, type KeyRing, macOf } from '../../carry/keys/key-ring.ts';
import type { PublicKeys, Signer } from '../../carry/keys/signing-keys.ts';

/** Lifetime of an access token, in seconds; shorter where a Project has an idle time. Clients of this field loop on tokens under 300 s. */
export const accessTokenSeconds = 3600;

/** Two hosts' clocks may differ by this much: a token is used within ms of being minted. */
const clockSkewSeconds = 5;

/** What an access token says of who calls; nothing of it is trusted beyond naming what to read. */
export interface Claims extends InferInput<typeof claimsSchema> {
  /** When they asked, where what they asked for is begun later. */
  askedAtMs?: number;
}

const callerEntries = {
  membershipId: string(),
  /** `Practitioner/<id>` and the like. */
  profile: string(),
  scope: string(),
  /** Id of the Patient whose record the login is for: `patient/` scopes reach no other's. */
  patient: exactOptional(string()),
};
export const runCaller = object(callerEntries);

/** Who called, as far as rights follow from it. */
export type RunCaller = InferInput<typeof runCaller>;

const runSchema = object({
  id: string(),
  /** Id of the run that nobody's run started, from which this one follows; its own when it is that one. */
  root: string(),
  /** 1 for a run that no Bot called. */
  depth: number(),
  /** Ms since the epoch. */
  deadlineAtMs: number(),
  /** Id of the call or tick that it all began with, where that is another than the root's. */
  origin: exactOptional(string()),
  /** Whether who asked for it had emergency access, which it has not: what it does is marked so. */
  isEmergency: exactOptional(boolean()),
  /** By any of these it is cancelled: its own, and those of the runs that wait for it. */
  cancelKeys: exactOptional(array(string())),
  /** Whose rights bound the run beside the Bot's own (`runAsUser`), the nearest caller first. */
  within: exactOptional(array(runCaller)),
});

/** A run of a Bot, as its token names it. */
export type Run = InferInput<typeof runSchema>;

/** `Claims`, where they are stored. */
export const claimsSchema = object({
  ...callerEntries,
  loginId: string(),
  project: string(),
  clientId: string(),
  /** Id of the User or of the ClientApplication. */
  subject: string(),
  /** Set when a Bot calls from inside a run. */
  run: exactOptional(runSchema),
});

/** What the route of this request asks. `admit` checks it, and notes here that it held. */
interface Admission<Asked extends Right = Right> {
  readonly right: Asked;
  readonly signIn: SignInRule;
  /** The Project that the path names; undefined when it names none. */
  readonly projectId: string | undefined;
  readonly bounds: Bounds;
  isGranted: boolean;
  /** Set by `requireWithin`: what is given was compared with what the caller holds. */
  isWithin: boolean;
  /** Set by `admit` where the login ends without use: after how long. */
  idleSeconds?: number;
  /** Set by `admit` while they have emergency access: how long still. */
  emergencySeconds?: number;
}

/** Who calls, by their token and not admitted yet. An operation for administrators takes no other's. */
export interface Caller<Asked extends Right = Right> extends Claims {
  readonly admission: Admission<Asked>;
}

/** The caller of one request. @param route.projectId of the path */
export function callerOf<Asked extends Right>(
  claims: Claims,
  right: Asked,
  route: { projectId?: string | undefined; signIn?: SignInRule; bounds?: Bounds | undefined } = {},
): Caller<Asked> {
  const { projectId, signIn = 'any', bounds = 'none' } = route;
  return { ...claims, admission: { right, signIn, projectId, bounds, isGranted: false, isWithin: false } };
}

/** Signs a JWT with the header `typ` given. Claims are seconds since the epoch, as RFC 7519. */
export async function signJwt(signer: Signer, typ: string, claims: Record<string, unknown>): Promise<string> {
  const header = { alg: 'RS256', typ, kid: signer.kid };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(await signer.sign(text)).toString('base64url')}`;
}

/** Mints an access token (RFC 9068) for the API at `baseUrl`, its issuer and audience. */
export async function mintAccessToken(
  signer: Signer,
  claims: Claims,
  options: { baseUrl: string; nowMs: number; tokenId: string; lifetimeSeconds?: number },
): Promise<string> {
  const iat = Math.floor(options.nowMs / 1000);
  return signJwt(signer, 'at+jwt', {
    iss: options.baseUrl,
    aud: options.baseUrl,
    sub: claims.subject,
    client_id: claims.clientId,
    login_id: claims.loginId,
    project: claims.project,
    membership: claims.membershipId,
    profile: claims.profile,
    username: claims.subject,
    scope: claims.scope,
    ...(claims.patient === undefined ? {} : { patient: claims.patient }),
    jti: options.tokenId,
    iat,
    nbf: iat - clockSkewSeconds,
    exp: iat + (options.lifetimeSeconds ?? accessTokenSeconds),
  });
}

const longestToken = 8192;

interface Checking {
  baseUrl: string;
  nowMs: number;
  /**
   * Tokens that were checked before, for this `baseUrl`: the hash of the text, and `exp` in seconds. They are
   * looked at for their end only; what their callers may do is read at each request.
   */
  verified?: Recent<number>;
}

/**
 * Checks an access token without a network call once its key is known.
 * @throws {Refusal} unauthorized, one text for every fault; the reason goes to the log
 */
export async function verifyAccessToken(
  publicKeys: PublicKeys,
  token: string,
  checking: Checking,
): Promise<Claims> {
  if (token.length > longestToken) throw unauthorized('token too long');
  const { verified, nowMs } = checking;
  const name = hash('sha256', token, 'base64');
  const isKnown = (verified?.get(name) ?? 0) > Math.floor(nowMs / 1000);
  const payload = isKnown ? decodeJwt(token) : await verifiedPayload(publicKeys, token, checking);
  const claims = {
    loginId: claim(payload, 'login_id'),
    project: claim(payload, 'project'),
    membershipId: claim(payload, 'membership'),
    profile: claim(payload, 'profile'),
    clientId: claim(payload, 'client_id'),
    subject: claim(payload, 'sub'),
    scope: claim(payload, 'scope'),
    ...(payload.patient === undefined ? {} : { patient: claim(payload, 'patient') }),
  };
  if (!isKnown) verified?.set(name, Number(payload.exp));
  return claims;
}

/** The key of ours that the header of a token names. */
export function keyNamed(publicKeys: PublicKeys, refused: () => Refusal) {
  return async ({ kid }: { kid?: unknown }) => {
    const key = typeof kid === 'string' && kid.length <= 64 ? await publicKeys.find(kid) : undefined;
    if (!key) throw refused();
    return key;
  };
}

async function verifiedPayload(
  publicKeys: PublicKeys,
  token: string,
  { baseUrl, nowMs }: Checking,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(
      token,
      keyNamed(publicKeys, () => unauthorized('unknown kid')),
      {
        algorithms: ['RS256'],
        typ: 'at+jwt',
        issuer: baseUrl,
        audience: baseUrl,
        currentDate: new Date(nowMs),
        requiredClaims: ['exp', 'iat', 'sub', 'jti'],
      },
    );
    return payload;
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof Refusal || !code?.startsWith('ERR_J')) throw error;
    throw unauthorized(code);
  }
}

export function unauthorized(reason: string): Refusal {
  return new Refusal('unauthorized', 'Unauthorized', { reason });
}

function claim(payload: Record<string, unknown>, name: string): string {
  const value = payload[name];
  if (typeof value !== 'string') throw unauthorized(`claim ${name} is not a string`);
  return value;
}

interface RunIdentity {
  project: string;
  botId: string;
  /** The Bot's own: its rights are the run's rights. */
  membershipId: string;
}

const prefix = 'run.';

export function isRunToken(token: string): boolean {
  return token.startsWith(prefix);
}

/** Mints the token of one run: an HMAC under a key that the function holds, so no network call. */
export async function mintRunToken(ring: KeyRing, identity: RunIdentity, run: Run): Promise<string> {
  const payload = Buffer.from(JSON.stringify({ ...identity, run })).toString('base64url');
  return `${prefix}${payload}.${await macOf(ring, payload)}`;
}

const readPayload = stored(
  'run token',
  object({ project: string(), botId: string(), membershipId: string(), run: runSchema }),
);

/** The Bot as caller, until the run's deadline. @throws {Refusal} unauthorized */
export async function verifyRunToken(ring: KeyRing, token: string, nowMs: number): Promise<Claims> {
  const [payload = '', ...given] = token.slice(prefix.length).split('.');
  if (!(await isMac(ring, payload, given.join('.')))) throw unauthorized('run token is not ours');
  const { project, botId, membershipId, run } = readPayload(
    JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')),
  );
  if (run.deadlineAtMs <= nowMs) throw unauthorized('the run is over');
  return {
    loginId: `run-${run.id}`,
    project,
    membershipId,
    profile: `Bot/${botId}`,
    clientId: botId,
    subject: botId,
    scope: '',
    run,
  };
}

/** A client that belongs to no Project and has no secret. */
interface BuiltInClient {
  redirectUris: readonly string[];
}

/**
 * The command line client of this field asks for codes without PKCE, and takes them on one port of
 * the person's own machine: the only client that may do without, and only there.
 */
const builtIn: ReadonlyMap<string, BuiltInClient> = new Map([
  ['medplum-cli', { redirectUris: ['http://localhost:9615'] }],
]);

/** Whether a client is the own app or a built-in one: such a login is no app's of others. */
export function isOwnClient(clientId: string): boolean {
  return clientId === '' || builtIn.has(clientId);
}

export function builtInClient(clientId: string): BuiltInClient | undefined {
  return builtIn.get(clientId);
}
