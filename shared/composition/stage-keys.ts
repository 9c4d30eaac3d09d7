import type { JWK } from 'jose';
import { type DataKeys, fileDataKeys, fileKeyWrapping, type KeyWrapping } from '../carry/keys/data-keys.ts';
import type { KeyPurpose, KeyRings } from '../carry/keys/key-ring.ts';
import { openKeyFile, publishKeys, type Signer } from '../carry/keys/signing-keys.ts';
import { openKeyRings } from '../carry/keys/stage-key.ts';
import type { Table } from '../carry/table/table.ts';
import { accessTokenSeconds } from '../identity/gate/access-token.ts';

/** A function that still signs with it, in an update, is replaced by then, and its last token is over. */
const leavesAfterMs = (accessTokenSeconds + 900) * 1000;

/** The stage's private keys, opened at first use. */
export interface StageKeys<P extends KeyPurpose> {
  /** Its public half is published before it signs anything, with those of the keys that are next or were before. */
  signer(): Promise<Signer>;
  keyRings: KeyRings<P>;
  /** For the secrets of Bots. */
  dataKeys(): Promise<DataKeys>;
}

/**
 * @param spec `file:<path>` on a laptop, `kms:<signing key>,<wrapping key>[,<key that is published only>…]` on AWS
 * @param purposes what the function has keys for; its role opens no others
 * @throws {Error} when `spec` is neither
 */
export function stageKeys<P extends KeyPurpose = never>(
  spec: string,
  table: Table,
  purposes: readonly P[] = [],
  now: () => number = Date.now,
): StageKeys<P> {
  const place = placeOf(spec);
  const published = async (signer: Signer, others: readonly JWK[]) => {
    const nowMs = now();
    await publishKeys(table, [signer.publicJwk, ...others], { nowMs, atMs: nowMs + leavesAfterMs });
    return signer;
  };
  const keyRings = openKeyRings(table, wrappingAt(place), purposes, now);
  if ('file' in place) {
    return {
      signer: once(async () => {
        const { signer, others } = openKeyFile(place.file);
        return published(signer, others);
      }),
      keyRings,
      dataKeys: once(async () => fileDataKeys(openKeyFile(place.file).secret)),
    };
  }
  return {
    signer: once(async () => {
      const { openKmsSigner, readKmsPublicKey } = await kms();
      const others = await Promise.all(place.publishedKeys.map((key) => readKmsPublicKey(key)));
      return published(await openKmsSigner(place.signingKey), others);
    }),
    keyRings,
    dataKeys: once(async () => (await kms()).openKmsDataKeys(place.wrappingKey)),
  };
}

/** What it takes to make the stage's keys of each purpose. */
export interface StageKeyMaking {
  wrapping(): Promise<KeyWrapping>;
  /** Of which the first versions derive on a stage of an earlier release; undefined on a new one. */
  earlierSecret(): Promise<Uint8Array | undefined>;
}

/** @param spec as `stageKeys` takes it */
export function stageKeyMaking(spec: string, table: Table): StageKeyMaking {
  const place = placeOf(spec);
  return {
    wrapping: wrappingAt(place),
    earlierSecret: async () =>
      'file' in place
        ? openKeyFile(place.file).secret
        : (await kms()).openEarlierSecret(table, place.wrappingKey),
  };
}

/** Where the keys are that wrap and sign. */
type Place =
  | { file: string; mayOpen?: readonly string[] }
  | { signingKey: string; wrappingKey: string; publishedKeys: readonly string[] };

const opens = '?opens=';

/** `KEYS` for a function on this machine whose role opens these purposes only. @param spec `file:<path>` */
export function openingOnly(spec: string, purposes: readonly string[]): string {
  return `${spec}${opens}${purposes.join()}`;
}

function placeOf(spec: string): Place {
  const rest = spec.slice(spec.indexOf(':') + 1);
  if (spec.startsWith('file:')) {
    const end = rest.lastIndexOf(opens);
    return end < 0
      ? { file: rest }
      : { file: rest.slice(0, end), mayOpen: rest.slice(end + opens.length).split(',') };
  }
  if (!spec.startsWith('kms:')) {
    throw new Error('KEYS must be file:<path> or kms:<signing key>,<wrapping key>');
  }
  const [signingKey = '', wrappingKey = '', ...publishedKeys] = rest.split(',');
  return { signingKey, wrappingKey, publishedKeys };
}

function wrappingAt(place: Place): () => Promise<KeyWrapping> {
  return once(async () =>
    'file' in place
      ? fileKeyWrapping(openKeyFile(place.file).secret, place.mayOpen)
      : (await kms()).openKmsWrapping(place.wrappingKey),
  );
}

/** Not loaded where there is none. */
function kms() {
  return import('../aws/kms.ts');
}

/** Remembers a success; a failure is tried again at the next call. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
