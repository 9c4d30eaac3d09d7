import type { JWK } from 'jose';
import { accessTokenSeconds } from '../access/access-token.ts';
import { type DataKeys, fileDataKeys } from '../keys/data-keys.ts';
import { openKeyFile } from '../keys/key-file.ts';
import { publishKeys } from '../keys/public-keys.ts';
import type { Signer, StageSecret } from '../keys/signer.ts';
import type { Table } from '../table/table.ts';

/** A function that still signs with it, in an update, is replaced by then, and its last token is over. */
const leavesAfterMs = (accessTokenSeconds + 900) * 1000;

/** The stage's private keys, opened at first use. */
export interface StageKeys {
  /** Its public half is published before it signs anything, with those of the keys that are next or were before. */
  signer(): Promise<Signer>;
  secret(): Promise<StageSecret>;
  /** For the secrets of Bots. */
  dataKeys(): Promise<DataKeys>;
}

/**
 * @param spec `file:<path>` on a laptop, `kms:<signing key>,<wrapping key>[,<key that is published only>…]` on AWS
 * @throws {Error} when `spec` is neither
 */
export function stageKeys(spec: string, table: Table, now: () => number = Date.now): StageKeys {
  const [kind, rest = ''] = [spec.slice(0, spec.indexOf(':')), spec.slice(spec.indexOf(':') + 1)];
  const [signingKey = '', wrappingKey = '', ...publishedKeys] = rest.split(',');
  const published = async (signer: Signer, others: readonly JWK[]) => {
    const nowMs = now();
    await publishKeys(table, [signer.publicJwk, ...others], { nowMs, atMs: nowMs + leavesAfterMs });
    return signer;
  };
  if (kind === 'file') {
    return {
      signer: once(async () => {
        const { signer, others } = openKeyFile(rest);
        return published(signer, others);
      }),
      secret: once(async () => openKeyFile(rest).secret),
      dataKeys: once(async () => fileDataKeys(openKeyFile(rest).secret)),
    };
  }
  if (kind !== 'kms') throw new Error('KEYS must be file:<path> or kms:<signing key>,<wrapping key>');
  const kms = () => import('../aws/kms.ts');
  return {
    signer: once(async () => {
      const { openKmsSigner, readKmsPublicKey } = await kms();
      const others = await Promise.all(publishedKeys.map((key) => readKmsPublicKey(key)));
      return published(await openKmsSigner(signingKey), others);
    }),
    secret: once(async () => (await kms()).openKmsSecret(table, wrappingKey)),
    dataKeys: once(async () => (await kms()).openKmsDataKeys(wrappingKey)),
  };
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
