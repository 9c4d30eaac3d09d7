import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Listening, listen, readBody } from '../../../infra/local/gateway/listen.ts';
import { fileKeyWrapping } from '../../../shared/carry/keys/data-keys.ts';

/** KMS: a request of Encrypt is at most 4,096 bytes of text. */
const longestBodyBytes = 16 * 1024;

interface Asked {
  Message: string;
  Plaintext: string;
  CiphertextBlob: string;
  EncryptionContext: Record<string, string>;
}

/**
 * The operations of KMS that functions call, on loopback: one key signs and one wraps, whatever they are called by.
 * `KEYS=kms:<signing key>,<wrapping key>` and `AWS_ENDPOINT_URL_KMS` lead functions here with the code that they have
 * on AWS.
 */
export function serveKms(): Promise<Listening> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { wrap, open } = fileKeyWrapping(randomBytes(32));
  const newKey = async ({ EncryptionContext }: Asked) => {
    const plain = randomBytes(32);
    return { Plaintext: text(plain), CiphertextBlob: text(await wrap(plain, EncryptionContext)) };
  };
  const operations: Readonly<Record<string, (asked: Asked) => Promise<object>>> = {
    GetPublicKey: async () => ({ PublicKey: text(publicKey.export({ format: 'der', type: 'spki' })) }),
    Sign: async ({ Message }) => ({ Signature: text(sign('sha256', bytes(Message), privateKey)) }),
    GenerateDataKey: newKey,
    GenerateDataKeyWithoutPlaintext: async (asked) => {
      const { CiphertextBlob } = await newKey(asked);
      return { CiphertextBlob };
    },
    Encrypt: async ({ Plaintext, EncryptionContext }) => ({
      CiphertextBlob: text(await wrap(bytes(Plaintext), EncryptionContext)),
    }),
    Decrypt: async ({ CiphertextBlob, EncryptionContext }) => ({
      Plaintext: text(await open(bytes(CiphertextBlob), EncryptionContext)),
    }),
  };

  async function carryOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, longestBodyBytes);
    const name = String(request.headers['x-amz-target']).replace('TrentService.', '');
    const answer = await operations[name]?.(JSON.parse(String(body)));
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.writeHead(answer ? 200 : 400);
    response.end(JSON.stringify(answer ?? { __type: 'UnknownOperationException' }));
  }

  return listen(0, (request, response) => {
    carryOut(request, response).catch(() => {
      response.writeHead(400).end(JSON.stringify({ __type: 'InvalidCiphertextException' }));
    });
  });
}

const text = (some: Uint8Array) => Buffer.from(some).toString('base64');
const bytes = (some: string) => Buffer.from(some, 'base64');
