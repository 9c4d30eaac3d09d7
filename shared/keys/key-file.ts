import type { JsonWebKey } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { JWK } from 'jose';
import { array, exactOptional, object, record, string } from 'valibot';
import { errorCode } from '../error-name.ts';
import { stored } from '../schema/stored.ts';
import { type Signer, thumbprint } from './signer.ts';

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
