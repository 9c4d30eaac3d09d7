import { longestEnrolmentMs, stageKeyRereadMs } from '../../base/limits.ts';
import { type KeyPurpose, type KeyRings, keyPurposes, splitVersion } from '../../carry/keys/key-ring.ts';
import {
  type KeyState,
  keyStateOf,
  readStageKey,
  type StageKey,
  writeStageKey,
} from '../../carry/keys/stage-key.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { ScanFilter } from '../../carry/table/scan-page.ts';
import { configuredIssuer, resealedSecret } from '../issuers/issuer.ts';
import { addressMs, resetMs } from '../sign-in/links.ts';
import { keyVersionOf } from '../sign-in/second-factor.ts';
import { settingBounds } from './settings.ts';

/** The event that forgets the versions of a key before the current one. */
export interface RetireKeyRequest {
  retireKey: KeyPurpose;
}

export interface Retirement {
  retirement: KeyState & {
    /** Otherwise it is to be asked again, and goes on where it was. */
    done: boolean;
    /** Second factors that derive from an earlier version: while there are any, it is not forgotten. */
    standing: number;
    /** Secrets that were sealed with an earlier version and are now with the current one. */
    resealed: number;
  };
}

export interface RetireServices extends Services {
  keyRings: KeyRings<'issuer-secret'>;
}

const dayMs = 86_400_000;

/** How long what a key has made is good, where that ends by itself. */
const lifetimeMs: Record<KeyPurpose, number> = {
  // A job's run has 850 s.
  'run-token': 900_000,
  'invitation-link': settingBounds.invitationDays * dayMs,
  'reset-link': resetMs,
  'address-link': addressMs,
  totp: longestEnrolmentMs,
  drafts: 0,
  'issuer-secret': 0,
  'external-sign-in': 600_000,
  'known-sign-in': 0,
};

/** What stands in the table of a purpose's making, beyond any time. */
interface Standing {
  filter: ScanFilter;
  versionOf(item: Item): number | undefined;
}

const standingOf: Partial<Record<KeyPurpose, Standing>> = {
  totp: {
    filter: {
      FilterExpression: 'begins_with(pk, :user) AND sk = :mfa AND attribute_exists(seed)',
      ExpressionAttributeValues: { ':user': 'U#', ':mfa': keys.mfa('').sk },
    },
    versionOf: ({ seed }) => keyVersionOf(String(seed)),
  },
  'issuer-secret': {
    filter: {
      FilterExpression: 'contains(pk, :issuers) AND attribute_exists(sealedSecret)',
      ExpressionAttributeValues: { ':issuers': '#ISSUERS' },
    },
    versionOf: ({ sealedSecret }) => splitVersion(String(sealedSecret))?.version,
  },
};

const pageItems = 1_000;

/**
 * Forgets the versions before the current one, once nothing that they made is needed any more. Secrets of issuers are
 * sealed anew; second factors are counted, and while there are any nothing is forgotten. Stopped or cut off, it goes on
 * where it was when it is asked again.
 * @param untilMs when to stop, ms since the epoch
 * @throws {Error} when there is no earlier version, when what they made may be good still, or when somebody else changes
 *   the key
 */
export async function retireStageKey(
  services: RetireServices,
  { retireKey: purpose }: RetireKeyRequest,
  untilMs: number,
): Promise<Retirement> {
  const { table, now, log } = services;
  let key = await readStageKey(table, purpose);
  const kept = key.versions.filter(({ version }) => version >= key.current);
  if (kept.length === key.versions.length) throw new Error('There is no earlier version');
  const fromMs = key.currentSinceMs + stageKeyRereadMs + lifetimeMs[purpose] + 60_000;
  if (now() < fromMs) {
    throw new Error(
      `What it made may be good still: it can be retired from ${new Date(fromMs).toISOString()}`,
    );
  }
  const standing = standingOf[purpose];
  let counts = { standing: 0, resealed: 0 };
  let from = key.retiring?.from;
  while (standing) {
    const { standing: stood = 0, resealed = 0 } = key.retiring ?? {};
    const page = await table.scan({ from, limit: pageItems, filter: standing.filter });
    const found = await look(services, page.items, { key, standing });
    counts = { standing: stood + found.standing, resealed: resealed + found.resealed };
    from = page.next;
    if (!from) break;
    key = await write(services, purpose, { ...key, retiring: { from, ...counts } }, key);
    if (now() >= untilMs) return answerOf(purpose, key, { done: false, ...counts });
  }
  const { retiring: _, ...rest } = key;
  const after = counts.standing > 0 ? rest : { ...rest, versions: kept };
  key = await write(services, purpose, after, key);
  if (counts.standing === 0) log.info('earlier versions of a key forgotten', { purpose });
  return answerOf(purpose, key, { done: true, ...counts });
}

async function look(
  { keyRings, table }: RetireServices,
  items: readonly Item[],
  { key, standing: { versionOf } }: { key: StageKey; standing: Standing },
): Promise<{ standing: number; resealed: number }> {
  const counts = { standing: 0, resealed: 0 };
  for (const item of items) {
    if (versionOf(item) === key.current) continue;
    const { pk, sk, sealedSecret } = item;
    const configured = sealedSecret === undefined ? undefined : configuredIssuer(item);
    if (!configured) {
      counts.standing += 1;
      continue;
    }
    const sealed = await resealedSecret(keyRings['issuer-secret'], configured);
    // One that was set since is sealed with the current version already.
    await table.updateIf({
      Key: { pk, sk },
      UpdateExpression: 'SET sealedSecret = :sealed',
      ConditionExpression: 'sealedSecret = :seen',
      ExpressionAttributeValues: { ':sealed': sealed, ':seen': sealedSecret },
    });
    counts.resealed += 1;
  }
  return counts;
}

async function write(
  { table }: Services,
  purpose: KeyPurpose,
  after: Omit<StageKey, 'revision'>,
  before: StageKey,
): Promise<StageKey> {
  if (!(await writeStageKey(table, purpose, after, before))) {
    throw new Error('Somebody else is changing this key: look at it, and try again');
  }
  return { ...after, revision: before.revision + 1 };
}

function answerOf(
  purpose: KeyPurpose,
  key: StageKey,
  counts: { done: boolean; standing: number; resealed: number },
): Retirement {
  return { retirement: { ...keyStateOf(purpose, key), ...counts } };
}

/** The event that removes the one secret that an earlier release had for all purposes. */
export interface ForgetEarlierRequest {
  forgetEarlierSecret: true;
}

export interface ForgottenEarlier {
  forgotten: 'the secret of an earlier release';
}

/** Functions of that release find no secret from then on. @throws {Error} while a purpose has no key of its own */
export async function forgetEarlierSecret({ table, log }: Services): Promise<ForgottenEarlier> {
  await Promise.all(keyPurposes.map((purpose) => readStageKey(table, purpose)));
  await table.transact([{ name: 'earlier secret', remove: keys.stageSecret() }]);
  log.info('the secret of an earlier release was forgotten', {});
  return { forgotten: 'the secret of an earlier release' };
}
