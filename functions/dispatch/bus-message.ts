import { number, object, optional, record, string, union } from 'valibot';
import type { BusEvent, BusEventName } from '../../shared/bus/bus-event.ts';
import type { DispatchedPurpose } from '../../shared/queue/purposes.ts';
import type { Message } from '../../shared/queue/queue.ts';
import { stored } from '../../shared/schema/stored.ts';
import { nameOfParts } from '../../shared/subscription/names.ts';
import type { Item } from '../../shared/table/item.ts';
import { parseHead } from '../../shared/table/keys.ts';
import type { Written } from './messages-of.ts';

/** What the bus is to tell of a write, if anything. Only attributes of items are looked at, never their content. */
export function busMessage(written: Written): Partial<Record<DispatchedPurpose, Message>> {
  const event = busEvent(written);
  return event ? { bus: { body: event } } : {};
}

function busEvent({ before, after }: Written): BusEvent | undefined {
  const head = after && parseHead(after);
  if (!after || !head) return undefined;
  const { project, type, id } = head;
  switch (type) {
    case 'ProjectMembership':
      return membershipEvent(project, id, before, after);
    case 'Bot':
      return deployedEvent(project, id, before, after);
    case 'Subscription': {
      const hasFailed = after.hasFailed === true && before?.hasFailed !== true;
      return hasFailed ? eventOf('subscription.failed', project, after, { subscription: id }) : undefined;
    }
    case 'Project':
      return before ? undefined : eventOf('project.created', project, after, {});
    case 'AuditEvent':
      return before ? undefined : executedEvent(project, after);
    default:
      return undefined;
  }
}

function membershipEvent(
  project: string,
  membership: string,
  before: Item | undefined,
  after: Item,
): BusEvent | undefined {
  const name = before?.versionId === after.versionId ? undefined : membershipEventName(before, after);
  if (name === undefined) return undefined;
  const { state } = invitationOf(after);
  const invitation = name === 'membership.removed' ? undefined : state;
  return eventOf(name, project, after, { membership, ...(invitation ? { invitation } : {}) });
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

/** Records of runs are in the stream for this alone, of Projects that ask for it. */
function executedEvent(project: string, entry: Item): BusEvent | undefined {
  if (typeof entry.executed !== 'string') return undefined;
  const run = readRun(JSON.parse(entry.executed));
  return eventOf('bot.executed', project, entry, run);
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
