import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { object, record, string } from 'valibot';
import { errorCode } from '../error-name.ts';
import { stored } from '../schema/stored.ts';
import { type Signer, type StageSecret, thumbprint } from './signer.ts';

const readKeys = stored('key file', object({ privateKey: record(string(), string()), secret: string() }));

/** A laptop's keys, in one file that only its owner reads; created when it does not exist. */
export function openKeyFile(path: string): { signer: Signer; secret: StageSecret } {
  const { privateKey: jwk, secret } = readKeys(JSON.parse(readOrCreate(path)));
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicJwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const kid = thumbprint(publicJwk);
  return {
    signer: {
      kid,
      publicJwk: { ...publicJwk, kid, alg: 'RS256', use: 'sig' },
      sign: async (data) => sign('sha256', Buffer.from(data), privateKey),
    },
    secret: Buffer.from(secret, 'base64url'),
  };
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
