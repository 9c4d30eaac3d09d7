import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A certificate and its key, as PEM files. */
export interface Identity {
  cert: string;
  key: string;
}

/** X.509 v3 by hand, enough for TLS: a certificate authority, and identities that it signs, for an hour. */
export async function newAuthority(folder: string, name: string) {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ca = join(folder, `${name}.pem`);
  const own = certificate({ issuer: name, subject: name, key: authority.publicKey }, authority.privateKey);
  await writeFile(ca, own);
  return {
    /** The file of the authority's own certificate. */
    ca,
    async identity(subject: string): Promise<Identity> {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const files = { cert: join(folder, `${subject}.pem`), key: join(folder, `${subject}.key`) };
      const fields = { issuer: name, subject, key: publicKey, host: 'localhost' };
      await writeFile(files.cert, certificate(fields, authority.privateKey));
      await writeFile(files.key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      return files;
    },
  };
}

interface CertificateFields {
  issuer: string;
  subject: string;
  key: KeyObject;
  /** Left out: an authority. */
  host?: string;
}

function certificate({ issuer, subject, key, host }: CertificateFields, signer: KeyObject): string {
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const now = Date.now();
  const extension =
    host === undefined
      ? // basicConstraints: an authority
        sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.of(0xff)))))
      : // subjectAltName: a DNS name
        sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(host)))));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(utcTime(now - 60_000), utcTime(now + 3_600_000)),
    nameOf(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = sign('sha256', toSign, signer);
  const whole = sequence(toSign, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/** commonName */
function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text)))));
}

function utcTime(ms: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/\D/g, '')}Z`));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
