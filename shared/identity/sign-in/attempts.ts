import { createHash, createHmac } from 'node:crypto';
import { object, optional, set, string } from 'valibot';
import { mostResets, usualFailedAddresses } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import { normalised } from '../../base/values.ts';
import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { count, sizeOf } from '../../carry/table/counter.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import type { HashingTurn } from './password.ts';

const windowMs = 15 * 60_000;
const mostFromOneSource = 10;
/** A person's password that was tried so often is tried from many places: then each of them has a few tries. */
const manyForOnePerson = 30;
const fewFromOneSource = 3;

/**
 * Counts a try of somebody's password. Too many from one source for one person are refused, fewer of them while
 * many are made from everywhere; elsewhere the person goes on, so that nobody can lock another person out.
 * @returns takes the try back: it was the right password
 * @throws {Refusal} throttled
 */
export async function countAttempt(
  services: Services,
  person: string,
  source: string,
): Promise<() => Promise<void>> {
  const [fromSource, forPerson] = await Promise.all([
    countTry(services, [person, source], 1),
    countTry(services, [person], 1),
  ]);
  const most = forPerson > manyForOnePerson ? fewFromOneSource : mostFromOneSource;
  if (fromSource > most) throw tooManyAttempts(services);
  return async () => {
    await Promise.all([countTry(services, [person, source], -1), countTry(services, [person], -1)]);
  };
}

/** Until the next stretch of time begins. */
function tooManyAttempts({ now }: Pick<Services, 'now'>): Refusal {
  return new Refusal('throttled', 'Too many attempts: wait a few minutes', {
    retryAfterSeconds: Math.ceil((windowMs - (now() % windowMs)) / 1000),
  });
}

/** Where the tries of this stretch of time are counted, and until when they are kept, in seconds. */
function attemptWindow({ now }: Pick<Services, 'now'>, keyOf: (window: number) => Key) {
  const window = Math.floor(now() / windowMs);
  return { Key: keyOf(window), ttl: ((window + 2) * windowMs) / 1000 };
}

async function countTry(services: Services, of: string[], by: 1 | -1): Promise<number> {
  const { Key, ttl } = attemptWindow(services, (window) => keys.attempts(of, window));
  return count(services, Key, { by, untilSeconds: ttl });
}

/** So many are told apart. */
const mostAddresses = 250;
const rememberedSeconds = 30 * 86_400;

export interface SourceServices extends Services {
  keyRings: KeyRings<'known-sign-in'>;
  /** What the stage says in the place of `usualFailedAddresses`. */
  failedAddresses?: number | undefined;
}

/** An address and a password that somebody gives. */
export interface Tried {
  source: string;
  address: string;
  password: string;
}

/** A try of an address from a source, as far as the source goes. */
export interface SourceTry {
  /** Asks once more when the password is about to be hashed: others from there may have failed meanwhile. */
  turn: HashingTurn;
  /** The address has failed from there. */
  failed(): Promise<void>;
  /** It has not, and is known from there for a month. */
  signedIn(): Promise<void>;
}

/**
 * Counts an address that somebody has forgotten the password of: each may be a mail.
 * @throws {Refusal} throttled
 */
export async function countReset(services: Services, source: string, address: string): Promise<void> {
  const resets = await addAddress(services, `reset ${source}`, address);
  if (resets > mostResets) throw tooManyAttempts(services);
}

/** What is read before `admitFromSource`, beside whatever else the sign-in reads. */
export function sourceKeys(services: Services, { source, address }: Tried): Key[] {
  return [failedKey(services, source).Key, keys.knownSignIn(source, address)];
}

/**
 * Lets an address be tried from a source, unless one password may be on its way through many people's addresses from
 * there (spraying). The staff of a clinic share one source: only addresses that have failed count, each once, and
 * beyond the bound those go on that have failed there before, and people who give the password that they have signed
 * in with there in the last month. Nobody else's is hashed. What an answer says, and how long it takes, does not tell
 * whether an address is known: of a sign-in eight bits are noted that only this stage can make of its password.
 * @throws {Refusal} throttled
 */
export async function admitFromSource(
  services: SourceServices,
  tried: Tried,
  found: Found,
): Promise<SourceTry> {
  const { source, address } = tried;
  const { failedAddresses: most = usualFailedAddresses, memory, table } = services;
  const { Key } = failedKey(services, source);
  const knownKey = keys.knownSignIn(source, address);
  const member = memberOf(address);
  const failed = readFailed(found.get(Key))?.addresses ?? new Set();
  const tag = await tagOf(services, tried);
  const goesOn = failed.has(member) || readKnown(found.get(knownKey))?.tag === tag;
  const note = (count: number) => memory.failedFrom.set(Key.pk, count);
  const requireRoom = () => {
    if ((memory.failedFrom.get(Key.pk) ?? 0) >= most && !goesOn) throw tooManyAttempts(services);
  };
  note(failed.size);
  requireRoom();
  return {
    turn: { source, begins: requireRoom },
    async failed() {
      note(await addAddress(services, source, address));
    },
    async signedIn() {
      const until = Math.ceil(services.now() / 1000) + rememberedSeconds;
      const forget = async () => {
        const left = await table.update({
          Key,
          UpdateExpression: 'DELETE addresses :one',
          ExpressionAttributeValues: { ':one': new Set([member]) },
          ReturnValues: 'UPDATED_NEW',
        });
        note(sizeOf(left.addresses));
      };
      await Promise.all([
        failed.has(member) ? forget() : undefined,
        table.put({ ...knownKey, tag, ttl: until }),
      ]);
    },
  };
}

/** @returns how many there are now, up to 250 */
async function addAddress(services: Services, source: string, address: string): Promise<number> {
  const { Key, ttl } = failedKey(services, source);
  const by = new Set([memberOf(address)]);
  const counted = await count(services, Key, {
    ...{ name: 'addresses', by, most: mostAddresses, untilSeconds: ttl },
  });
  return counted ?? mostAddresses;
}

function memberOf(address: string): string {
  return createHash('sha256').update(address).digest('base64url').slice(0, 16);
}

const readFailed = stored('failed addresses', object({ addresses: optional(set(string())) }));
const readKnown = stored('known sign-in', object({ tag: string() }));

function failedKey(services: Services, source: string) {
  return attemptWindow(services, (window) => keys.sourceAttempts(source, window));
}

/** A right password has the tag that was noted; of wrong ones one in 256. */
async function tagOf({ keyRings }: SourceServices, { source, address, password }: Tried): Promise<string> {
  const { key } = await keyRings['known-sign-in'].current();
  const text = JSON.stringify([source, address, normalised(password, 'NFKC')]);
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 2);
}
