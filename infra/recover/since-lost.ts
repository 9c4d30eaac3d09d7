import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys, parseHead, versionPrefix } from '../../shared/carry/table/keys.ts';
import type { ScannedPage } from '../../shared/carry/table/scan-page.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { ConditionFailed } from '../../shared/carry/table/transact.ts';
import { countAdministrator } from '../../shared/identity/invitations/accept.ts';
import { changeMembership } from '../../shared/identity/invitations/membership-actions.ts';
import { featuresOff, projectSettings } from '../../shared/identity/projects/settings.ts';
import { deliveryOf, laneKey } from '../../shared/records/subscriptions/delivery.ts';
import { rightsOf } from '../../shared/store/fhir/membership.ts';
import { inlineResource, isStanding } from '../../shared/store/items/content.ts';
import { indexEntry } from '../../shared/store/items/reindex.ts';
import { keysOfStates, removeStale } from '../../shared/store/items/upkeep.ts';

/** A Project that was disabled or deleted since is disabled; of other settings since, these are told. */
export const endProject: Step = async (recovery, item, prepared) => {
  if (!recovery.lost) return;
  const since = await sinceThen(recovery, item);
  const name = `Project/${parseHead(item)?.project}`;
  if (isStanding(since) && !isDeepStrictEqual(settingsOf(since), settingsOf(item))) {
    prepared.open.push(`${name} has had other settings since: ${JSON.stringify(settingsOf(since))}`);
  }
  if (since?.paused === true) prepared.open.push(`${name} was paused: resume it only when that is over`);
  if (isStanding(since) && since.disabledAtMs === undefined && since.deletion === undefined) return;
  const disabled = 'disabledAtMs = if_not_exists(disabledAtMs, :now)';
  await set(recovery.table, item, disabled, { ':now': recovery.now() });
  prepared.open.push(`${name} was disabled or deleted since: it is disabled`);
};

/** What bounds the people and Bots of a Project. */
function settingsOf(head: Item) {
  const { fetchHosts, idleMinutes, emergencyMinutes, concurrentRuns, treeRuns } = projectSettings(head);
  const { auditReads, invitesPerHour, requestShare, subscriptions, schedules } = projectSettings(head);
  return {
    ...{ fetchHosts, idleMinutes, emergencyMinutes, concurrentRuns, treeRuns },
    ...{ auditReads, invitesPerHour, requestShare, subscriptions, schedules, featuresOff: featuresOff(head) },
  };
}

/** A policy, Bot or Subscription that was changed or deleted since is as it was: somebody has to decide. */
export const tellOfChange: Step = async (recovery, item, prepared) => {
  if (!recovery.lost || !isStanding(item)) return;
  const since = await sinceThen(recovery, item);
  if (since?.versionId === item.versionId) return;
  const { project, type, id } = parseHead(item) ?? {};
  const what = isStanding(since) ? 'changed' : 'deleted';
  prepared.open.push(`${type}/${id} in Project/${project} was ${what} since: it is as it was`);
};

/** A membership that was removed or set inactive since is inactive. Of one that has other rights since, these are told. */
export const endMembership: Step = async (recovery, item, prepared) => {
  const { table, lost, now, newId } = recovery;
  const membership = inlineResource('ProjectMembership', item);
  const project = parseHead(item)?.project;
  if (!lost || !membership || project === undefined) return;
  const since = inlineResource('ProjectMembership', await sinceThen(recovery, item));
  const name = `ProjectMembership/${membership.id} in Project/${project}`;
  if (since && !isDeepStrictEqual(rightsOf(since), rightsOf(membership))) {
    prepared.open.push(`${name} has had other rights since: ${JSON.stringify(rightsOf(since))}`);
  }
  if (!membership.active || since?.active) return;
  const stamp = {
    ...{ project, versionId: newId(), nowMs: now(), trace: undefined },
    author: { reference: 'system' },
  };
  const isCounted = item.invitation !== undefined && membership.admin === true;
  try {
    await table.transact([
      ...changeMembership({ membership }, { rights: rightsOf(membership), active: false }, stamp).actions,
      ...countAdministrator(project, isCounted ? -1 : 0),
    ]);
    prepared.membershipsEnded += 1;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    prepared.open.push(`${name} was removed since, and is the last administrator`);
  }
};

/** What was done to a restored table, and what somebody is to look at: nothing yet. */
export const nothingPrepared = () => ({
  items: 0,
  /** Sign-ins of people and programs. */
  loginsEnded: 0,
  /** Links of invitations: administrators send new ones. */
  invitationsEnded: 0,
  /** Mails that waited then. */
  mailsDropped: 0,
  projectsPaused: 0,
  /** Id and name of each that was stopped. */
  projects: [] as string[],
  /** Exports of Projects, going on or ready. */
  exportsDropped: 0,
  /** Deliveries that waited then and have ended since. */
  deliveriesEnded: 0,
  /** Deliveries that wait until their Project goes on. */
  deliveriesWaiting: 0,
  /**
   * Passwords, second factors, secrets of clients and Bots, issuers and who they vouch for: what was changed since, by
   * what it was changed to.
   */
  credentialsKept: 0,
  /** Memberships that were removed or set inactive since. */
  membershipsEnded: 0,
  /** What was taken back since and could not be again. */
  open: [] as string[],
});

export type Prepared = ReturnType<typeof nothingPrepared>;

export interface Recovery {
  /** The restored table, which nobody uses yet. */
  table: Table;
  scan(from: Key | undefined): Promise<ScannedPage>;
  /** The table as it was lost, where it can still be read: what was taken back since then is taken back again. */
  lost: Table | undefined;
  /** The moment to which the table was put back, in ms since the epoch. */
  atMs: number;
  now(): number;
  newId(): string;
}

/** What is done with an item; once more does no harm. */
export type Step = (recovery: Recovery, item: Item, prepared: Prepared) => Promise<void>;

/** The item as it was when the table was lost; undefined where it was no more, or that table cannot be read. */
async function sinceThen({ lost }: Recovery, item: Key): Promise<Item | undefined> {
  return (await lost?.read([item]))?.get(item);
}

/** @param what such as `paused = :true` */
export async function set(
  table: Table,
  { pk, sk }: Key,
  what: string,
  values: Record<string, unknown>,
): Promise<void> {
  const update = { UpdateExpression: `SET ${what}`, ExpressionAttributeValues: values };
  await table.update({ Key: { pk, sk }, ...update });
}

/** A password, secret or issuer that was changed since stays changed; one that was taken back does not come back. */
export const keepCredential: Step = async (recovery, item, prepared) => {
  const { table, lost } = recovery;
  const since = await sinceThen(recovery, item);
  if (!lost || isDeepStrictEqual(since, item)) return;
  await (since ? table.put(since) : table.write([], [{ pk: item.pk, sk: item.sk }]));
  prepared.credentialsKept += 1;
};

/**
 * A secret that was changed since stays changed. A client that was deleted since, or changed (its redirect URIs, where its
 * keys are), has expired: it opens nothing until somebody has looked at it.
 */
export const keepClient: Step = async (recovery, item, prepared) => {
  const { table, lost, now } = recovery;
  if (!lost) return;
  const project = String(item.project);
  const id = item.pk.slice(keys.client('').pk.length);
  const clientKey = keys.resource(project, 'ClientApplication', id);
  const [since, clientSince] = [await sinceThen(recovery, item), await sinceThen(recovery, clientKey)];
  const client = (await table.read([clientKey])).get(clientKey);
  const isSame = since !== undefined && clientSince?.versionId === client?.versionId;
  const credential = since ?? item;
  if (!isSame) {
    const what = since ? 'changed' : 'deleted';
    prepared.open.push(`ClientApplication/${id} in Project/${project} was ${what} since: it has expired`);
  }
  // Whichever was earliest: what has expired since does not come back, nor does a second run put it off.
  const dates = [item, since].map((one) => Number(one?.expiresAtMs ?? Number.POSITIVE_INFINITY));
  const kept = isSame ? since : { ...credential, expiresAtMs: Math.min(now(), ...dates) };
  if (isDeepStrictEqual(kept, item)) return;
  await table.put(kept);
  prepared.credentialsKept += 1;
};

/**
 * A second factor that a person has enrolled or changed since is theirs. One that was taken off stays: without it one
 * would need less. Who was erased since, or has another address since, is told of.
 */
export const keepAccount: Step = async (recovery, item, prepared) => {
  if (!recovery.lost || !isStanding(item)) return;
  const id = item.pk.slice(keys.user('').pk.length);
  const mfaKey = keys.mfa(id);
  const [found, before] = await Promise.all([
    recovery.lost.read([item, mfaKey]),
    recovery.table.read([mfaKey]),
  ]);
  const since = found.get(item);
  if (!isStanding(since)) {
    prepared.open.push(`User/${id} was erased since, and is back: erase the account once more`);
    return;
  }
  if (since.email !== item.email) {
    prepared.open.push(
      `User/${id} has another address since: mails, those that reset a password too, go to the one before`,
    );
  }
  const [factor, factorBefore] = [found.get(mfaKey), before.get(mfaKey)];
  if (factor?.seed !== undefined && !isDeepStrictEqual(factor, factorBefore)) {
    await recovery.table.put(factor);
    prepared.credentialsKept += 1;
  } else if (factor?.seed === undefined && factorBefore?.seed !== undefined) {
    prepared.open.push(`User/${id} had a second factor taken off since, and has it again`);
  }
};

/** An account at an issuer that was taken off a person since, or replaced by another one, opens nothing any more. */
export const keepSubject: Step = async (recovery, item, prepared) => {
  const { table, lost } = recovery;
  const since = await sinceThen(recovery, item);
  if (!lost || since?.subjectKey === item.subjectKey) return;
  const named = { pk: String(since?.subjectKey), sk: keys.subject(undefined, '', '').sk };
  const subject = await sinceThen(recovery, named);
  if (since && subject) await table.write([since, subject]);
  else await table.write([], [{ pk: item.pk, sk: item.sk }]);
  prepared.credentialsKept += 1;
};

/** The account itself leads to nobody any more; one that is somebody else's since was written with that person. */
export const endSubject: Step = async (recovery, item) => {
  const { table, lost } = recovery;
  const since = await sinceThen(recovery, item);
  if (!lost || since?.userId === item.userId) return;
  await table.removeIf(
    { pk: item.pk, sk: item.sk },
    { ConditionExpression: 'userId = :before', ExpressionAttributeValues: { ':before': item.userId } },
  );
};

const waitingSeconds = 14 * 86_400;

/**
 * A delivery that was under way then and has ended since is not made again. One that has not waits until its Project goes
 * on: no message of a queue leads to it any more, so a note does.
 */
export const endDelivery: Step = async (recovery, item, prepared) => {
  const { table, now, newId } = recovery;
  const delivery = deliveryOf(item);
  if (delivery.ended !== undefined) return;
  const since = await sinceThen(recovery, item);
  const ended = since && deliveryOf(since).ended;
  if (ended !== undefined) {
    // The entry of its lane first: stopped in between, it is done once more.
    await table.write([], [laneKey(delivery)]);
    await set(table, item, 'ended = :ended REMOVE claimedUntilMs', { ':ended': ended });
    prepared.deliveriesEnded += 1;
    return;
  }
  const { project, subscriptionId, lane } = delivery;
  const ttl = Math.floor(now() / 1000) + waitingSeconds;
  await table.put({ ...keys.waitingLane(project, subscriptionId, lane), note: newId(), ttl });
  prepared.deliveriesWaiting += 1;
};

/** What follows a write is done by then, other than in an outage. */
const followedWithinMs = 3_600_000;
/** A write leaves values of the state before; further states are those of writes shortly one after the other. */
const statesBefore = 5;

/** Index items of what was written just before the moment: the stream that told of it is not that of this table. */
export const indexLateEntry: Step = async (recovery, item) => {
  if (isLate(recovery, item)) await indexEntry(recovery.table, item);
};

/** The same, of values that a change left behind. */
export const tidyLate: Step = async (recovery, item) => {
  const target = isLate(recovery, item) && parseHead(item);
  if (!target) return;
  const { table, now } = recovery;
  const versions = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': item.pk, ':prefix': versionPrefix },
    ScanIndexForward: false,
    Limit: statesBefore,
  });
  const candidates = await keysOfStates(table, target.project, versions.items);
  await removeStale({ table, now }, target, String(item.versionId), candidates);
};

function isLate({ atMs }: Recovery, { untidy, lastUpdated }: Item): boolean {
  return untidy === true && Date.parse(String(lastUpdated)) > atMs - followedWithinMs;
}
