import { createHmac } from 'node:crypto';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { HttpResponse } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { longestPieceBytes, packText, unpackText } from '../../store/items/content.ts';
import type { Caller } from './access-token.ts';

/** A request that its client may repeat and that must be carried out once. */
export interface Once {
  /** As the client sent it. */
  idempotencyKey: string;
  /** Keys of one route mean nothing on another. */
  route: string;
  /** All that makes two requests the same: path, content type, body. */
  content: readonly (string | Uint8Array)[];
}

/** The right to carry it out, until `untilMs`. */
export interface Claim {
  key: Key;
  /** Names this attempt: for an execute the id of the run. */
  id: string;
  fingerprint: string;
  untilMs: number;
  /** What to do when nobody knows how an attempt ended: carry it out again, or refuse. */
  afterCrash: 'repeat' | 'refuse';
}

type Store = Pick<Services, 'table' | 'now'>;

const longestKey = 255;
const keptSeconds = 86_400;
/** A key can be freed between the write that finds it taken and the read. */
const attempts = 3;

/** The header's value; undefined without one. @throws {Refusal} invalid */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= longestKey) return header;
  throw invalidField('Idempotency-Key', `Idempotency-Key must be 1 to ${longestKey} visible characters`);
}

/**
 * @param attempt.id of the run, or of nothing yet
 * @param attempt.untilMs after which an attempt without a result was cut off
 */
export function newClaim(
  caller: Caller,
  { idempotencyKey, route, content }: Once,
  attempt: Pick<Claim, 'id' | 'untilMs' | 'afterCrash'>,
): Claim {
  const { project, membershipId } = caller;
  // Keyed, because a body may hold a password: the table alone does not tell what it was.
  const hmac = createHmac('sha256', idempotencyKey);
  for (const part of content) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
  const key = keys.idempotency(project, membershipId, route, idempotencyKey);
  return { key, fingerprint: hmac.digest('hex'), ...attempt };
}

/**
 * Claims the key by one conditional write.
 * @param standing reads the item under the claim's key, for whom it is not free
 * @returns what the earlier request with this key was answered; undefined when this one is to be carried out
 * @throws {Refusal} unprocessable for another request; conflict while it runs; outcome-unknown when nobody
 *   knows how it ended, or what it answered
 */
export async function claimOnce(
  store: Store,
  claim: Claim,
  standing: () => Promise<Item | undefined>,
): Promise<{ result: unknown } | undefined> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (await takeClaim(store, claim)) return undefined;
    const item = await standing();
    // The SDK repeats a write whose answer was lost: then it is our own that stands there.
    if (item?.id === claim.id) return undefined;
    if (item) return readKept(item, claim, store.now());
  }
  throw new Refusal('conflict', 'Others keep trying with this Idempotency-Key', { retryAfterSeconds: 1 });
}

async function takeClaim({ table, now }: Store, claim: Claim): Promise<boolean> {
  const again =
    claim.afterCrash === 'repeat'
      ? ' OR (attribute_not_exists(#result) AND untilMs < :now AND fingerprint = :fingerprint)'
      : '';
  const ofRepeat = { ':now': now(), ':fingerprint': claim.fingerprint };
  const { held } = await table.putIf(claimItem(claim, now()), {
    ConditionExpression: `attribute_not_exists(pk) OR #ttl <= :second${again}`,
    ExpressionAttributeNames: { '#ttl': 'ttl', ...(again ? { '#result': 'result' } : {}) },
    ExpressionAttributeValues: { ':second': Math.floor(now() / 1000), ...(again ? ofRepeat : {}) },
  });
  return held;
}

/** The claim with its result, for whoever repeats the request. One that fits no item is not kept. */
export function keptItem({ now }: Pick<Store, 'now'>, claim: Claim, result: unknown): Item {
  const packed = packText(JSON.stringify(result));
  const kept = packed.length <= longestPieceBytes ? { result: packed } : { result: '', isTooLong: true };
  return { ...claimItem(claim, now()), ...kept };
}

/** The claim without an answer, over at once: the key is free again. */
export function freeItem({ now }: Pick<Store, 'now'>, claim: Claim): Item {
  return { ...claimItem(claim, now()), ttl: Math.floor(now() / 1000) };
}

/** Nothing was done: the key is free again. */
export async function releaseClaim(store: Store, claim: Claim): Promise<void> {
  await store.table.putIf(freeItem(store, claim), isOwn(claim));
}

/** Holds while no later attempt has taken the claim over. */
export function isOwn({ id }: Claim) {
  return { ConditionExpression: 'id = :own', ExpressionAttributeValues: { ':own': id } };
}

function readKept(item: Item, claim: Claim, nowMs: number): { result: unknown } {
  if (item.fingerprint !== claim.fingerprint) {
    throw new Refusal('unprocessable', 'This Idempotency-Key was used with another request');
  }
  if (item.isTooLong === true) {
    throw new Refusal('outcome-unknown', `It was done (${item.id}); its answer was too long to be kept`);
  }
  if (item.result !== undefined) return { result: JSON.parse(unpackText(item.result)) };
  const leftMs = Number(item.untilMs) - nowMs;
  if (leftMs < 0) {
    throw new Refusal(
      'outcome-unknown',
      `It may have been done (${item.id}): look before you send it with another key`,
    );
  }
  throw new Refusal('conflict', 'A request with this Idempotency-Key is still being carried out', {
    retryAfterSeconds: Math.ceil((leftMs + 1) / 1000),
  });
}

function claimItem({ key, id, fingerprint, untilMs }: Claim, nowMs: number): Item {
  return { ...key, id, fingerprint, untilMs, ttl: Math.ceil(nowMs / 1000) + keptSeconds };
}

/** The header that tells a repeated answer from a first one. */
export function replayed(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'idempotency-replayed': 'true' } };
}
