import { createPublicKey } from 'node:crypto';
import {
  DecryptCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  GetPublicKeyCommand,
  KMSClient,
  SignCommand,
} from '@aws-sdk/client-kms';
import type { JWK } from 'jose';
import { object } from 'valibot';
import { bytes, stored } from '../base/schema.ts';
import type { DataKeys, KeyContext, KeyWrapping } from '../carry/keys/data-keys.ts';
import { type Signer, thumbprint } from '../carry/keys/signing-keys.ts';
import { keys } from '../carry/table/keys.ts';
import { readItem, type Table } from '../carry/table/table.ts';
import { createExchanger, leanClient, type Patience, patience } from './wire/transport.ts';

/** It is waited for a few seconds, and asked again: what it is asked changes nothing. @param endpoint of a test only */
export function connectKms(endpoint?: string, waits: Patience = patience): KMSClient {
  return leanClient('kms', KMSClient, createExchanger(waits), { maxAttempts: 3, endpoint });
}

/** An RSA_2048 SIGN_VERIFY key in KMS: signs there, its private half never leaves. */
export async function openKmsSigner(keyId: string, kms = connectKms()): Promise<Signer> {
  const publicJwk = await readKmsPublicKey(keyId, kms);
  return {
    kid: publicJwk.kid,
    publicJwk,
    async sign(data) {
      const signed = await kms.send(
        new SignCommand({
          KeyId: keyId,
          Message: Buffer.from(data),
          MessageType: 'RAW',
          SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
        }),
      );
      return given(signed.Signature, 'signature');
    },
  };
}

/** The public half of such a key, which may be one that does not sign. */
export async function readKmsPublicKey(keyId: string, kms = connectKms()): Promise<JWK & { kid: string }> {
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: keyId }));
  const spki = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
  const jwk = spki.export({ format: 'jwk' });
  return { ...jwk, kid: thumbprint(jwk), alg: 'RS256', use: 'sig' };
}

const readSecret = stored('stage secret', object({ ciphertext: bytes }));

/** The one secret that earlier releases had for all purposes; undefined on a stage that has never had it. */
export async function openEarlierSecret(
  table: Table,
  keyId: string,
  kms = connectKms(),
): Promise<Uint8Array | undefined> {
  const item = readSecret(await readItem(table, keys.stageSecret()));
  return item && decrypt(kms, keyId, item.ciphertext, { use: 'portico-stage-secret' });
}

/** The stage's own keys, wrapped by a key in KMS. */
export function openKmsWrapping(keyId: string, kms = connectKms()): KeyWrapping {
  return {
    async makeWrapped(context) {
      const { CiphertextBlob } = await kms.send(
        new GenerateDataKeyWithoutPlaintextCommand({
          KeyId: keyId,
          KeySpec: 'AES_256',
          EncryptionContext: context,
        }),
      );
      return given(CiphertextBlob, 'data key');
    },
    async wrap(plain, context) {
      const { CiphertextBlob } = await kms.send(
        new EncryptCommand({ KeyId: keyId, Plaintext: plain, EncryptionContext: context }),
      );
      return given(CiphertextBlob, 'ciphertext');
    },
    open: (wrapped, context) => decrypt(kms, keyId, wrapped, context),
  };
}

async function decrypt(
  kms: KMSClient,
  keyId: string,
  wrapped: Uint8Array,
  context: KeyContext,
): Promise<Uint8Array> {
  const { Plaintext } = await kms.send(
    new DecryptCommand({ KeyId: keyId, CiphertextBlob: wrapped, EncryptionContext: context }),
  );
  return given(Plaintext, 'plaintext');
}

function given(answered: Uint8Array | undefined, what: string): Uint8Array {
  if (!answered) throw new Error(`KMS returned no ${what}`);
  return answered;
}

/** Data keys wrapped by a key in KMS, which checks their context when they are opened. */
export function openKmsDataKeys(keyId: string, kms = connectKms()): DataKeys {
  return {
    async make(context) {
      const { Plaintext, CiphertextBlob } = await kms.send(
        new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: context }),
      );
      return { plain: given(Plaintext, 'data key'), wrapped: given(CiphertextBlob, 'data key') };
    },
    open: (wrapped, context) => decrypt(kms, keyId, wrapped, context),
  };
}
