import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { JWK } from 'jose';
import { array, exactOptional, looseObject, number, object, record, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import { errorCode } from '../../base/values.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import { readItem, type Table } from '../table/table.ts';

/** The stage's public signing keys as the table publishes them, kept in memory. */
export interface PublicKeys {
  /** The key of that id; reads again, at most once a minute, when the id is new, and else every ten minutes. */
  find(kid: string): Promise<KeyObject | undefined>;
  list(): Promise<JWK[]>;
}

const rereadAfterMs = 60_000;
/** A key that was retired is known no longer than this beyond its time. */
const rereadKnownAfterMs = 600_000;

export function publishedKeys(table: Table, now: () => number): PublicKeys {
  let known: PublishedKey[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;

  let reading: Promise<PublishedKey[]> | undefined;
  /** What jose makes of a key it keeps by the key's identity: the same object each time is verified faster. */
  const imported = new WeakMap<JWK, KeyObject>();

  function keyOf(jwk: JWK): KeyObject {
    const key = imported.get(jwk) ?? createPublicKey({ key: jwk, format: 'jwk' });
    imported.set(jwk, key);
    return key;
  }

  const standing = () => known.filter(({ leavesAtMs }) => leavesAtMs === undefined || leavesAtMs > now());

  async function list(maxAgeMs = rereadAfterMs): Promise<PublishedKey[]> {
    if (known.length > 0 && now() - readAtMs < maxAgeMs) return standing();
    // Shared, so that of two requests with a new key neither is judged by the old ones.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function read(): Promise<PublishedKey[]> {
    known = published(await readItem(table, keys.publicKeys())).jwks;
    readAtMs = now();
    return standing();
  }

  return {
    list: async () => (await list()).map(({ leavesAtMs: _, ...jwk }) => jwk),
    async find(kid) {
      const isKid = (key: PublishedKey) => key.kid === kid;
      const jwk = (await list(rereadKnownAfterMs)).find(isKid) ?? (await list()).find(isKid);
      return jwk && keyOf(jwk);
    },
  };
}

const read = stored(
  'set of public keys',
  object({
    jwks: array(looseObject({ kty: string(), kid: string(), leavesAtMs: exactOptional(number()) })),
    revision: number(),
  }),
);

interface PublishedKey extends JWK {
  /** It signs nothing any more, and nothing that it signed is good from then on. */
  leavesAtMs?: number;
}

function published(item: Item | undefined): { jwks: PublishedKey[]; revision: number } {
  return read(item) ?? { jwks: [], revision: 0 };
}

/**
 * Publishes these public keys. Others that are published leave, once all that they have signed is over; those that have
 * left are forgotten. Safe to repeat and to race.
 * @param leaving.atMs when others leave, unless that was said before
 */
export async function publishKeys(
  table: Table,
  own: readonly JWK[],
  leaving: { nowMs: number; atMs: number },
): Promise<void> {
  const key = keys.publicKeys();
  for (;;) {
    const item = await readItem(table, key);
    const { jwks, revision } = published(item);
    const next = nextKeys(jwks, own, leaving);
    if (isDeepStrictEqual(next, jwks)) return;
    const { held } = await table.updateIf({
      Key: key,
      UpdateExpression: 'SET jwks = :jwks, revision = :next',
      ConditionExpression: 'attribute_not_exists(pk) OR revision = :seen',
      ExpressionAttributeValues: { ':jwks': next, ':next': revision + 1, ':seen': revision },
    });
    if (held) return;
  }
}

function nextKeys(
  known: readonly PublishedKey[],
  own: readonly JWK[],
  { nowMs, atMs }: { nowMs: number; atMs: number },
): PublishedKey[] {
  const isOwn = ({ kid }: JWK) => own.some((one) => one.kid === kid);
  const others = known
    .filter((key) => !isOwn(key) && (key.leavesAtMs ?? atMs) > nowMs)
    .map((key) => ({ ...key, leavesAtMs: key.leavesAtMs ?? atMs }));
  const kept = known.filter(isOwn).map(({ leavesAtMs: _, ...key }) => key);
  const added = own.filter(({ kid }) => !known.some((key) => key.kid === kid));
  return [...kept, ...added, ...others];
}

/** The private side of the stage: it signs tokens. On AWS a KMS key that never leaves KMS. */
export interface Signer {
  kid: string;
  publicJwk: JWK;
  /** RSASSA-PKCS1-v1_5 with SHA-256 over `data` (RS256). */
  sign(data: string): Promise<Uint8Array>;
}

/** RFC 7638 thumbprint of an RSA key, used as its id. */
export function thumbprint(jwk: JWK): string {
  return createHash('sha256')
    .update(JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n }))
    .digest('base64url');
}

const privateJwk = record(string(), string());
const readKeys = stored(
  'key file',
  object({
    privateKey: privateJwk,
    secret: string(),
    /** Keys that are published and sign nothing: the next one, or the one before. */
    others: exactOptional(array(privateJwk)),
  }),
);

/** A laptop's keys, in one file that only its owner reads; created when it does not exist. */
export function openKeyFile(path: string): { signer: Signer; secret: Uint8Array; others: JWK[] } {
  const { privateKey: jwk, secret, others = [] } = readKeys(JSON.parse(readOrCreate(path)));
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicJwk = publicOf(jwk);
  return {
    signer: {
      kid: publicJwk.kid,
      publicJwk,
      sign: async (data) => sign('sha256', Buffer.from(data), privateKey),
    },
    secret: Buffer.from(secret, 'base64url'),
    others: others.map(publicOf),
  };
}

function publicOf(privateKey: JsonWebKey): JWK & { kid: string } {
  const jwk = createPublicKey(createPrivateKey({ key: privateKey, format: 'jwk' })).export({ format: 'jwk' });
  return { ...jwk, kid: thumbprint(jwk), alg: 'RS256', use: 'sig' };
}

function readOrCreate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = JSON.stringify({
    privateKey: privateKey.export({ format: 'jwk' }),
    secret: randomBytes(32).toString('base64url'),
  });
  // link() is atomic and fails when another process was first: both then read the same keys.
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}
