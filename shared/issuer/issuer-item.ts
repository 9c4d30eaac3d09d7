import { createHash } from 'node:crypto';
import { object, optional, string } from 'valibot';
import type { KeyRing } from '../keys/key-ring.ts';
import { sealWithRing, unsealWithRing } from '../keys/seal.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

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
