import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { listenOnLoopback } from './listening.ts';

/** An issuer that says whatever a test wants, well or badly. */
export interface OwnIssuer {
  issuer: string;
  /** Our client there. */
  clientId: string;
  /** How often a path was asked for. */
  hits: Map<string, number>;
  /** Answers instead of the good ones, by path. */
  answers: Map<string, RequestListener>;
  /** The ID token that the token endpoint gives. */
  idToken: string;
  /** A token that is good but for what is changed. */
  token(claims?: object, header?: object): string;
  publicJwk(): Record<string, unknown>;
  publicKey: KeyObject;
  /** New keys under a new id; the old ones are gone. */
  rotate(): void;
  stop(): Promise<void>;
}

export async function startOwnIssuer(): Promise<OwnIssuer> {
  const hits = new Map<string, number>();
  const answers = new Map<string, RequestListener>();
  let generation = 0;
  let pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const listening = await listenOnLoopback((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    hits.set(path, (hits.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (answer) return void answer(request, response);
    const good = goodAnswer(path);
    response.writeHead(good ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(good ?? {}));
  });
  const issuer = listening.url;

  function goodAnswer(path: string): object | undefined {
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
        };
      case '/jwks':
        return { keys: [own.publicJwk()] };
      case '/token':
        return { access_token: 'x', token_type: 'Bearer', id_token: own.idToken };
      default:
        return undefined;
    }
  }

  const own: OwnIssuer = {
    issuer,
    clientId: 'portico-at-issuer',
    hits,
    answers,
    idToken: '',
    token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: own.clientId, sub: 'ann', iat: now, exp: now + 300, ...claims };
      return signToken(pair.privateKey, { alg: 'RS256', kid: `key-${generation}`, ...header }, payload);
    },
    publicJwk: () => ({ ...pair.publicKey.export({ format: 'jwk' }), kid: `key-${generation}`, use: 'sig' }),
    get publicKey() {
      return pair.publicKey;
    },
    rotate() {
      generation += 1;
      pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    },
    stop: listening.stop,
  };
  return own;
}

/** Signs as RS256 whatever the header says. */
export function signToken(key: KeyObject, header: object, payload: object): string {
  const text = signingInput(header, payload);
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/** The oldest attack: the public key, which everybody has, as the secret of an HMAC. */
export function signWithPublicKey(key: KeyObject, header: object, payload: object): string {
  const text = signingInput({ ...header, alg: 'HS256' }, payload);
  const secret = key.export({ type: 'spki', format: 'pem' });
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export function unsigned(payload: object): string {
  return `${signingInput({ alg: 'none' }, payload)}.`;
}

function signingInput(header: object, payload: object): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}
