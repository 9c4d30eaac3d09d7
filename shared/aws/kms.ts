import { createPublicKey } from 'node:crypto';
import {
  DecryptCommand,
  GenerateDataKeyCommand,
  GetPublicKeyCommand,
  KMSClient,
  SignCommand,
} from '@aws-sdk/client-kms';
import type { JWK } from 'jose';
import { object } from 'valibot';
import type { DataKeys } from '../keys/data-keys.ts';
import { type Signer, type StageSecret, thumbprint } from '../keys/signer.ts';
import { stored } from '../schema/stored.ts';
import { bytes } from '../schema/values.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const context = { use: 'portico-stage-secret' };

/** An RSA_2048 SIGN_VERIFY key in KMS: signs there, its private half never leaves. */
export async function openKmsSigner(keyId: string, kms = new KMSClient({})): Promise<Signer> {
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
      if (!signed.Signature) throw new Error('KMS returned no signature');
      return signed.Signature;
    },
  };
}

/** The public half of such a key, which may be one that does not sign. */
export async function readKmsPublicKey(
  keyId: string,
  kms = new KMSClient({}),
): Promise<JWK & { kid: string }> {
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: keyId }));
  const spki = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
  const jwk = spki.export({ format: 'jwk' });
  return { ...jwk, kid: thumbprint(jwk), alg: 'RS256', use: 'sig' };
}

const readSecret = stored('stage secret', object({ ciphertext: bytes }));

/**
 * The stage secret: a KMS data key whose ciphertext lies in the table. The first caller makes it;
 * of two that race, one writes and both read what was written.
 */
export async function openKmsSecret(
  table: Table,
  keyId: string,
  kms = new KMSClient({}),
): Promise<StageSecret> {
  const key = keys.stageSecret();
  let item = (await table.read([key])).get(key);
  if (!item) {
    const made = await kms.send(
      new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: context }),
    );
    // Of two that make it at once, one writes: what stands there is read.
    await table.updateIf({
      Key: key,
      UpdateExpression: 'SET ciphertext = :made',
      ConditionExpression: 'attribute_not_exists(pk)',
      ExpressionAttributeValues: { ':made': made.CiphertextBlob },
    });
    item = (await table.read([key])).get(key);
  }
  const { Plaintext } = await kms.send(
    new DecryptCommand({
      KeyId: keyId,
      CiphertextBlob: readSecret(item)?.ciphertext,
      EncryptionContext: context,
    }),
  );
  if (!Plaintext) throw new Error('KMS returned no plaintext');
  return Plaintext;
}

/** Data keys wrapped by a key in KMS, which checks their context when they are opened. */
export function openKmsDataKeys(keyId: string, kms = new KMSClient({})): DataKeys {
  return {
    async make(context) {
      const made = await kms.send(
        new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: context }),
      );
      if (!made.Plaintext || !made.CiphertextBlob) throw new Error('KMS returned no data key');
      return { plain: made.Plaintext, wrapped: made.CiphertextBlob };
    },
    async open(wrapped, context) {
      const { Plaintext } = await kms.send(
        new DecryptCommand({ KeyId: keyId, CiphertextBlob: wrapped, EncryptionContext: context }),
      );
      if (!Plaintext) throw new Error('KMS returned no plaintext');
      return Plaintext;
    },
  };
}
