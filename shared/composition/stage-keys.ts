import { type DataKeys, fileDataKeys } from '../keys/data-keys.ts';
import { openKeyFile } from '../keys/key-file.ts';
import { publishKey } from '../keys/public-keys.ts';
import type { Signer, StageSecret } from '../keys/signer.ts';
import type { Table } from '../table/table.ts';

/** The stage's private keys, opened at first use. */
export interface StageKeys {
  /** Its public half is published before it signs anything. */
  signer(): Promise<Signer>;
  secret(): Promise<StageSecret>;
  /** For the secrets of Bots. */
  dataKeys(): Promise<DataKeys>;
}

/**
 * @param spec `file:<path>` on a laptop, `kms:<signing key>,<wrapping key>` on AWS
 * @throws {Error} when `spec` is neither
 */
export function stageKeys(spec: string, table: Table): StageKeys {
  const [kind, rest = ''] = [spec.slice(0, spec.indexOf(':')), spec.slice(spec.indexOf(':') + 1)];
  const [signingKey = '', wrappingKey = ''] = rest.split(',');
  if (kind === 'file') {
    return {
      signer: once(async () => published(openKeyFile(rest).signer, table)),
      secret: once(async () => openKeyFile(rest).secret),
      dataKeys: once(async () => fileDataKeys(openKeyFile(rest).secret)),
    };
  }
  if (kind !== 'kms') throw new Error('KEYS must be file:<path> or kms:<signing key>,<wrapping key>');
  const kms = () => import('../aws/kms.ts');
  return {
    signer: once(async () => published(await (await kms()).openKmsSigner(signingKey), table)),
    secret: once(async () => (await kms()).openKmsSecret(table, wrappingKey)),
    dataKeys: once(async () => (await kms()).openKmsDataKeys(wrappingKey)),
  };
}

async function published(signer: Signer, table: Table): Promise<Signer> {
  await publishKey(table, signer.publicJwk);
  return signer;
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
