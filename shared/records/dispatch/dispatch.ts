import { number, object, optional, record, string, union } from 'valibot';
import { dispatchPauseSeconds } from '../../base/limits.ts';
import type { Log } from '../../base/log.ts';
import { stored } from '../../base/schema.ts';
import { errorName, typedEntries } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { isExportKey, isOutboxKey, parseHead } from '../../carry/table/keys.ts';
import type { BusEvent, BusEventName } from '../../carry/work/bus-event.ts';
import {
  type DispatchedPurpose,
  dispatchedPurposes,
  keyMessage,
  type Message,
  type Queue,
} from '../../carry/work/queue.ts';
import { upkeepOf } from '../../store/items/upkeep.ts';
import { candidateMessage, changeOf, nameOfParts } from '../subscriptions/change.ts';
import type { KnownSubscriptions } from '../subscriptions/listed.ts';

type Messages = Partial<Record<DispatchedPurpose, Message>>;

/** What the bus is to tell of a write, if anything. Only attributes of items are looked at, never their content. */
function busEvent({ before, after }: Standing): BusEvent | undefined {
  const head = parseHead(after);
  if (!head) return undefined;
  const { project, type, id } = head;
  switch (type) {
    case 'ProjectMembership': {
      const name = before?.versionId === after.versionId ? undefined : membershipEventName(before, after);
      const { state } = invitationOf(after);
      const invitation = state && name !== 'membership.removed' ? { invitation: state } : {};
      return name && eventOf(name, project, after, { membership: id, ...invitation });
    }
    case 'Bot':
      return deployedEvent(project, id, before, after);
    case 'Subscription': {
      const hasFailed = after.hasFailed === true && before?.hasFailed !== true;
      return hasFailed ? eventOf('subscription.failed', project, after, { subscription: id }) : undefined;
    }
    case 'Project':
      return before ? undefined : eventOf('project.created', project, after, {});
    case 'AuditEvent':
      // Records of runs are in the stream for this alone, of Projects that ask for it.
      return before || typeof after.executed !== 'string'
        ? undefined
        : eventOf('bot.executed', project, after, readRun(JSON.parse(after.executed)));
    default:
      return undefined;
  }
}

/** Bots and clients are not invited: their memberships begin without an event. */
function membershipEventName(before: Item | undefined, after: Item): BusEventName | undefined {
  if (after.deleted === true) return 'membership.removed';
  const [was, is] = [invitationOf(before), invitationOf(after)];
  if (is.state === 'accepted' && was.state !== 'accepted') return 'membership.accepted';
  if (is.state === 'pending' && was.generation !== is.generation) return 'membership.invited';
  return before ? 'membership.changed' : undefined;
}

const readMembership = stored(
  'membership',
  object({ invitation: optional(object({ state: optional(string()), generation: optional(number()) })) }),
);
const readBot = stored(
  'Bot',
  object({ deployed: optional(object({ at: string(), trace: optional(string()) })) }),
);

const readRun = stored('record of a run', record(string(), union([string(), number()])));

function invitationOf(item: Item | undefined): {
  state?: string | undefined;
  generation?: number | undefined;
} {
  return readMembership(item)?.invitation ?? {};
}

/** A deployment is no version of the Bot: it is told by what it leaves on the head. */
function deployedEvent(
  project: string,
  bot: string,
  before: Item | undefined,
  after: Item,
): BusEvent | undefined {
  const { deployed } = readBot(after);
  if (!deployed || deployed.at === readBot(before)?.deployed?.at) return undefined;
  const version = String(after.codeVersion);
  const id = nameOfParts('bot.deployed', project, bot, version, deployed.at);
  const trace = deployed.trace === undefined ? {} : { trace: deployed.trace };
  return { name: 'bot.deployed', detail: { id, project, time: deployed.at, ...trace, bot, version } };
}

function eventOf(
  name: BusEventName,
  project: string,
  { pk, versionId, lastUpdated, trace }: Item,
  more: Record<string, string | number>,
): BusEvent {
  const id = nameOfParts(name, pk, String(versionId));
  const own = typeof trace === 'string' ? { trace } : {};
  return { name, detail: { id, project, time: String(lastUpdated), ...own, ...more } };
}

/** An item before and after a write, as plain values; undefined where there was none. */
export interface Written {
  before: Item | undefined;
  after: Item | undefined;
}

type Standing = Written & { after: Item };

/** What Subscriptions are asked for, because a write's items do not tell it. */
type OfSubscriptions = 'subscriptions' | 'subscription-status';

/** What a write has to be followed by, as its items tell. */
const followUps: Record<
  Exclude<DispatchedPurpose, OfSubscriptions>,
  (written: Standing) => Message | undefined
> = {
  mail: ({ before, after }) =>
    isOutboxKey(after.pk) && before?.generation !== after.generation ? keyMessage(after) : undefined,
  exports: ({ before, after }) =>
    isExportKey(after) && after.untidy === true && before?.untidy !== true ? keyMessage(after) : undefined,
  audit: ({ before, after }) =>
    isEntry(after) && after.untidy === true && !before ? keyMessage(after) : undefined,
  'index-upkeep': ({ before, after }) => {
    const isOther = isOutboxKey(after.pk) || isExportKey(after) || isEntry(after);
    const upkeep = !isOther && after.untidy === true && upkeepOf(before, after);
    return upkeep ? { body: upkeep } : undefined;
  },
  bus: (written) => {
    const event = busEvent(written);
    return event && { body: event };
  },
};

function isEntry(item: Item): boolean {
  return parseHead(item)?.type === 'AuditEvent';
}

/** What a write has to be followed by, as its items tell: a message at most for each purpose. */
export function messagesOf({ before, after }: Written): Messages {
  if (!after) return {};
  const messages: Messages = {};
  for (const [purpose, messageOf] of typedEntries(followUps)) {
    const message = messageOf({ before, after });
    const share = parseHead(after)?.project ?? after.project;
    if (message) messages[purpose] = typeof share === 'string' ? { ...message, share } : message;
  }
  return messages;
}

/**
 * What a write means to Subscriptions: those to its type are to look at it; and of one that was itself
 * written, its status follows, when it is new after a while.
 */
export async function subscriptionMessages(
  { subscriptions, knownAfterSeconds }: Pick<DispatchServices, 'subscriptions' | 'knownAfterSeconds'>,
  { before, after }: Written,
): Promise<Pick<Messages, OfSubscriptions>> {
  const change = changeOf(before, after);
  if (!change) return {};
  const { project, type, id, version } = change;
  const isOwn = type === 'Subscription';
  if (isOwn) subscriptions.forget(project);
  const listed = await subscriptions.about(project, type, version.lastUpdated);
  const status = {
    body: { project, id, versionId: version.versionId },
    share: project,
    ...(after?.isRequested === true ? { delaySeconds: knownAfterSeconds } : {}),
  };
  return {
    ...(isOwn ? { 'subscription-status': status } : {}),
    ...(listed.length > 0
      ? { subscriptions: candidateMessage({ ...change, subscriptions: listed.map((one) => one.id) }) }
      : {}),
  };
}

interface DispatchServices {
  queues: Readonly<Record<DispatchedPurpose, Queue>>;
  subscriptions: Pick<KnownSubscriptions, 'about' | 'forget'>;
  /** After this a Subscription that was asked for is known wherever one is looked for. */
  knownAfterSeconds: number;
  log: Log;
  /** Lets so many ms pass. */
  pause(ms: number): Promise<unknown>;
}

/**
 * Hands what writes are to be followed by to the queue of each purpose.
 * @returns the position of the first write that has to be given again, with all after it, because a
 *   queue did not take a message; undefined when all were taken
 */
export async function dispatch(
  services: DispatchServices,
  writes: readonly Written[],
): Promise<number | undefined> {
  const { queues, log } = services;
  const { messages, stopped } = await readWrites(services, writes);
  const failed = await Promise.all(
    dispatchedPurposes.map(async (purpose) => {
      const own = messages.flatMap((some, position) => {
        const message = some[purpose];
        return message ? [{ position, message }] : [];
      });
      if (own.length === 0) return [];
      const notTaken = await queues[purpose].send(own.map(({ message }): Message => message));
      if (notTaken.length > 0) {
        log.error('message not queued', { purpose, count: notTaken.length, cause: notTaken[0]?.cause });
      }
      return notTaken.map(({ position }) => own[position]?.position ?? 0);
    }),
  );
  const notTaken = failed.flat();
  // Of a record that cannot be read there is nothing to wait for: it is tried, and set aside before long.
  if (notTaken.length > 0 || stopped === 'out-of-reach') await services.pause(dispatchPauseSeconds * 1000);
  const positions = [...notTaken, ...(stopped ? [messages.length] : [])];
  return positions.length > 0 ? Math.min(...positions) : undefined;
}

/**
 * Of the writes up to the first that could not be read. One after the other: a Subscription among them is known to those
 * behind it.
 */
async function readWrites(
  services: DispatchServices,
  writes: readonly Written[],
): Promise<{ messages: Messages[]; stopped?: 'not-understood' | 'out-of-reach' }> {
  const messages: Messages[] = [];
  for (const written of writes) {
    let own: Messages;
    try {
      own = messagesOf(written);
    } catch (error) {
      services.log.error('change not understood', { error: errorName(error) });
      return { messages, stopped: 'not-understood' };
    }
    try {
      messages.push({ ...own, ...(await subscriptionMessages(services, written)) });
    } catch (error) {
      services.log.error('subscriptions not read', { error: errorName(error) });
      return { messages, stopped: 'out-of-reach' };
    }
  }
  return { messages };
}
