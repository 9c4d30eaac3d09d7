import { createHash } from 'node:crypto';
import { object, optional, pipe, regex, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { fields, optionalField, readText, stored } from '../../base/schema.ts';
import { type KeyRing, sealWithRing, unsealWithRing } from '../../carry/keys/key-ring.ts';
import { type Item, ownerOf } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';

/** An issuer that is configured. */
export interface ConfiguredIssuer {
  id: string;
  issuer: string;
  /** The Project that it vouches for; undefined for one of the stage. */
  project: string | undefined;
  /** Our name at the issuer. */
  clientId: string;
  sealedSecret: string | undefined;
}

/** Names the issuer in paths. Its redirect URI contains it, so no other issuer can answer there. */
function issuerIdOf(project: string | undefined, issuer: string): string {
  const text = JSON.stringify([project ?? null, issuer]);
  return createHash('sha256').update(text).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 22);
}

/** Where the issuer sends people back to: to be registered there, exactly. */
export function issuerRedirectUri(baseUrl: string, issuerId: string): string {
  return `${baseUrl}/auth/external/${issuerId}`;
}

/** @param secret what the issuer gave our client, if anything; only its ciphertext is stored */
export async function issuerItem(
  ring: KeyRing,
  configured: { project: string | undefined; issuer: string; clientId: string; secret: string | undefined },
): Promise<Item> {
  const { project, issuer, clientId, secret } = configured;
  const id = issuerIdOf(project, issuer);
  return {
    ...keys.issuer(project, id),
    issuer,
    project,
    clientId,
    sealedSecret: secret === undefined ? undefined : await sealWithRing(ring, [id, clientId], secret),
  };
}

const read = stored(
  'issuer',
  object({
    sk: string(),
    issuer: string(),
    project: optional(string()),
    clientId: string(),
    sealedSecret: optional(string()),
  }),
);

export function configuredIssuer(item: Item | undefined): ConfiguredIssuer | undefined {
  const configured = read(item);
  if (!configured) return undefined;
  const { sk: id, issuer, project, clientId, sealedSecret } = configured;
  return { id, issuer, project, clientId, sealedSecret };
}

/** The Project's own issuer of that name, else the stage's. */
export async function findIssuer(
  table: Table,
  project: string | undefined,
  issuer: string,
): Promise<ConfiguredIssuer | undefined> {
  const ofStage = keys.issuer(undefined, issuerIdOf(undefined, issuer));
  const own = project === undefined ? ofStage : keys.issuer(project, issuerIdOf(project, issuer));
  const found = await table.read([own, ofStage]);
  return configuredIssuer(found.get(own) ?? found.get(ofStage));
}

/** Whether the issuer that vouched for a login is still trusted there. */
export async function isStillTrusted(
  table: Table,
  { issuer, issuerProject }: { issuer?: string | undefined; issuerProject?: string | undefined },
): Promise<boolean> {
  if (issuer === undefined) return true;
  const key = keys.issuer(issuerProject, issuerIdOf(issuerProject, issuer));
  return (await table.read([key])).get(key) !== undefined;
}

/** Undefined for a client without a secret. @throws {Error} when it was sealed under other keys */
export async function issuerSecret(
  ring: KeyRing,
  { id, clientId, sealedSecret }: ConfiguredIssuer,
): Promise<string | undefined> {
  if (sealedSecret === undefined) return undefined;
  const secret = await unsealWithRing(ring, [id, clientId], sealedSecret);
  if (secret === undefined) throw new Error('The secret of an issuer does not open');
  return secret;
}

/** What was sealed with an earlier version of the key, sealed with the current one. */
export async function resealedSecret(
  ring: KeyRing,
  configured: ConfiguredIssuer,
): Promise<string | undefined> {
  const secret = await issuerSecret(ring, configured);
  return secret === undefined ? undefined : sealWithRing(ring, [configured.id, configured.clientId], secret);
}

const longest = 255;
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * An issuer as OpenID Connect Discovery 1.0 section 3 writes it: https, no query, no fragment.
 * @param onLoopback whether http on this machine is good too: where issuers are configured, on a laptop only
 */
export function isIssuerUrl(value: unknown, { onLoopback }: { onLoopback: boolean }): value is string {
  if (typeof value !== 'string' || value.length > longest || /[?#\s\\]/.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && isWebUrl(url, { onLoopback });
}

/** https, or http on loopback where that is allowed; never with credentials inside. */
export function isWebUrl(url: URL, { onLoopback }: { onLoopback: boolean }): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (onLoopback && url.protocol === 'http:' && isLoopback(url));
}

/** Whether a URL is of the machine itself that opens it. */
export function isLoopback({ hostname }: URL): boolean {
  return loopback.has(hostname);
}

const printable = /^[\x20-\x7e]{1,500}$/;
const clientIdText = 'clientId is required: up to 500 printable characters';
const secretText = 'clientSecret must be up to 500 printable characters';

/** `{issuer, clientId, clientSecret?}`, as an issuer is added; other fields are ignored. */
export function issuerBody(where: { onLoopback: boolean }) {
  return fields({
    issuer: readText('issuer must be an https URL without query or fragment', (url) =>
      isIssuerUrl(url, where) ? url : undefined,
    ),
    clientId: pipe(string(clientIdText), regex(printable, clientIdText)),
    clientSecret: optionalField(pipe(string(secretText), regex(printable, secretText))),
  });
}

/** Whom an issuer names, and how far its word goes: its Project, or (undefined) the stage. */
export interface IssuerSubject {
  issuer: string;
  project: string | undefined;
  subject: string;
}

/**
 * The subject as it is linked to a User that lives in one Project: what the stage's issuer says of that User
 * stands apart, so that no Project takes a person's account away from the others. Issuers have no space.
 */
export function subjectWithin(of: IssuerSubject, only: string): IssuerSubject {
  return of.project === undefined ? { ...of, issuer: `stage ${of.issuer}`, project: only } : of;
}

/**
 * The User that followed an invitation while signed in as this subject.
 * @param only the Project that is asked for: a User that lives there only comes first
 */
export async function linkedUser(
  table: Table,
  of: IssuerSubject,
  only?: string,
): Promise<string | undefined> {
  const within = only === undefined ? of : subjectWithin(of, only);
  const [first, second] = [keyOf(within), keyOf(of)];
  const found = await table.read([first, second]);
  return ownerOf(found.get(first) ?? found.get(second));
}

const subjectOf = stored('subject of a User', object({ subjectKey: string() }));

function keyOf({ project, issuer, subject }: IssuerSubject): Key {
  return keys.subject(project, issuer, subject);
}

/**
 * Links a subject to a User: neither may be linked to another one. A Project's own issuer vouches for
 * that Project only, so there a new invitation may replace the account of a person who lost theirs.
 * @throws {Refusal} conflict
 */
export async function linkActions(table: Table, subject: IssuerSubject, userId: string): Promise<Action[]> {
  const { project, issuer } = subject;
  const own = keyOf(subject);
  const name = keys.userSubject(userId, project, issuer);
  const found = await table.read([own, name]);
  const linkedTo = ownerOf(found.get(own));
  const before = subjectOf(found.get(name))?.subjectKey;
  if (linkedTo !== undefined && linkedTo !== userId) {
    throw new Refusal('conflict', 'This account belongs to another person');
  }
  const isReplaced = before !== undefined && before !== own.pk;
  if (isReplaced && project === undefined) {
    throw new Refusal('conflict', 'You signed in with another account of this issuer before');
  }
  return [
    {
      name: 'subject',
      put: { ...own, userId },
      if: 'attribute_not_exists(pk) OR userId = :user',
      values: { ':user': userId },
    },
    {
      name: 'subject of user',
      put: { ...name, subjectKey: own.pk },
      ...(before === undefined
        ? { if: 'attribute_not_exists(pk)' }
        : { if: 'subjectKey = :before', values: { ':before': before } }),
    },
    ...(isReplaced ? [{ name: 'earlier subject', remove: { pk: before, sk: own.sk } } satisfies Action] : []),
  ];
}
