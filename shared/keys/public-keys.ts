import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { array, looseObject, number, object, string } from 'valibot';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** The stage's public signing keys as the table publishes them, kept in memory. */
export interface PublicKeys {
  /** The key of that id; reads again, at most once a minute, when the id is new. */
  find(kid: string): Promise<KeyObject | undefined>;
  list(): Promise<JWK[]>;
}

const rereadAfterMs = 60_000;

export function publishedKeys(table: Table, now: () => number): PublicKeys {
  let known: JWK[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;

  let reading: Promise<JWK[]> | undefined;
  /** What jose makes of a key it keeps by the key's identity: the same object each time is verified faster. */
  const imported = new WeakMap<JWK, KeyObject>();

  function keyOf(jwk: JWK): KeyObject {
    const key = imported.get(jwk) ?? createPublicKey({ key: jwk, format: 'jwk' });
    imported.set(jwk, key);
    return key;
  }

  async function list(): Promise<JWK[]> {
    if (known.length > 0 && now() - readAtMs < rereadAfterMs) return known;
    // Shared, so that of two requests with a new key neither is judged by the old ones.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function read(): Promise<JWK[]> {
    known = published((await table.read([keys.publicKeys()])).get(keys.publicKeys())).jwks;
    readAtMs = now();
    return known;
  }

  return {
    list,
    async find(kid) {
      const jwk = known.find((key) => key.kid === kid) ?? (await list()).find((key) => key.kid === kid);
      return jwk && keyOf(jwk);
    },
  };
}

const read = stored(
  'set of public keys',
  object({ jwks: array(looseObject({ kty: string(), kid: string() })), revision: number() }),
);

function published(item: Item | undefined): { jwks: JWK[]; revision: number } {
  return read(item) ?? { jwks: [], revision: 0 };
}

/** Adds a public key to those published. Safe to repeat and to race: the item only grows. */
export async function publishKey(table: Table, jwk: JWK): Promise<void> {
  const key = keys.publicKeys();
  for (;;) {
    const item = (await table.read([key])).get(key);
    const { jwks, revision } = published(item);
    if (jwks.some((known) => known.kid === jwk.kid)) return;
    const { held } = await table.updateIf({
      Key: key,
      UpdateExpression: 'SET jwks = :jwks, revision = :next',
      ConditionExpression: 'attribute_not_exists(pk) OR revision = :seen',
      ExpressionAttributeValues: { ':jwks': [...jwks, jwk], ':next': revision + 1, ':seen': revision },
    });
    if (held) return;
  }
}
