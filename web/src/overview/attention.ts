import type { AuditEvent, Bundle, ProjectMembership, Reference } from '@medplum/fhirtypes';
import { idIn, nextOf, resourcesIn } from '../api/fhir.ts';
import { type Api, nothingFor } from '../api/use-api.ts';
import { invitationOf, lastSignInOf } from '../members/invitation.ts';

/** Something that somebody should look at, and where. */
export interface Attention {
  kind: 'Bot' | 'Delivery' | 'Invitation' | 'API key' | 'Emergency access';
  name: string;
  what: string;
  at: string | undefined;
  href: string;
}

export type AllAttention = Awaited<ReturnType<typeof loadAttention>>;

/** What `admin/projects/<id>/failures` answers of the last 24 hours. */
export interface Failures {
  ran: { bot: Reference; at: string }[];
  bots: (Failing & { bot: Reference })[];
  subscriptions: (Failing & { subscription: Reference; status: string; error?: string; endpoint?: string })[];
  /** False where more Bots ran, or there are more Subscriptions, than are looked at. */
  complete: boolean;
}

interface Failing {
  looked: number;
  failed: number;
  last?: string;
}

const soonMs = 48 * 60 * 60_000;
const membersLookedAt = 100;
/** Of each kind; the rest is a line that leads to all of them. */
const mostLines = 5;
/** Emergency access is to be looked into afterwards. */
const emergenciesMs = 30 * 24 * 60 * 60_000;
const emergenciesLookedAt = 50;

/** What needs attention now. Four requests. */
export async function loadAttention(api: Api, signal: AbortSignal) {
  const membersThat = (condition: string) =>
    api.get<Bundle<ProjectMembership>>(`${api.admin}/members?${condition}&_count=${membersLookedAt}`, signal);
  const from = new Date(Date.now() - emergenciesMs).toISOString();
  const emergenciesAsked = `subtype=emergency-access&date=ge${from}&_sort=-date&_count=${emergenciesLookedAt}`;
  const [failures, invited, keys, emergencies] = await Promise.all([
    api.get<Failures>(`${api.admin}/failures`, signal),
    membersThat('state=pending'),
    membersThat('profile-type=ClientApplication'),
    // An administrator whose policy leaves the audit log out sees the rest.
    api.get<Bundle<AuditEvent>>(`fhir/R4/AuditEvent?${emergenciesAsked}`, signal).catch(nothingFor(403)),
  ]);
  const isAllOf = (found: Bundle) => nextOf(found) === undefined;
  const missing = {
    'Emergency access was not looked at: your own policy does not show the audit log.': emergencies,
    'Not every Bot and Subscription was looked at: there are too many.': failures.complete,
    [`Only the first ${membersLookedAt} open invitations were looked at.`]: isAllOf(invited),
    [`Only the first ${membersLookedAt} API keys were looked at.`]: isAllOf(keys),
  };
  return {
    items: [
      ...atMost(emergencies ? ofEmergencies(emergencies) : [], '/audit?what=emergency-access', 'more people'),
      ...atMost(failures.bots.map(ofBot), '/bots', 'more Bots'),
      ...atMost(failures.subscriptions.map(ofSubscription), '/bots', 'more Subscriptions'),
      ...atMost(expiring(resourcesIn(invited), Date.now()), '/members?state=pending', 'more invitations'),
      ...atMost(resourcesIn(keys).flatMap(ofKey), '/clients', 'more keys'),
    ],
    missing: Object.entries(missing).flatMap(([text, isLookedAt]) => (isLookedAt ? [] : [text])),
  };
}

function atMost(items: Attention[], href: string, more: string): Attention[] {
  const [first] = items;
  if (!first || items.length <= mostLines) return items;
  const name = `${items.length - mostLines} ${more}`;
  return [...items.slice(0, mostLines), { kind: first.kind, name, what: '', at: undefined, href }];
}

function ofEmergencies(events: Bundle<AuditEvent>): Attention[] {
  const latest = new Map<string, Attention>();
  for (const { entity, agent, recorded: at } of resourcesIn(events)) {
    const href = `/members/${idIn(entity?.[0]?.what?.reference)}`;
    const name = agent[0]?.who?.display ?? 'A member';
    const what = 'Took emergency access, last on';
    if (!latest.has(href)) latest.set(href, { kind: 'Emergency access', name, what, at, href });
  }
  return [...latest.values()];
}

function ofKey(key: ProjectMembership): Attention[] {
  if (lastSignInOf(key) !== undefined) return [];
  const { display: name = 'An API key', reference } = key.profile ?? {};
  return [{ kind: 'API key', name, what: 'Never used', at: undefined, href: `/clients/${idIn(reference)}` }];
}

function ofBot({ bot, last, ...counts }: Failures['bots'][number]): Attention {
  const href = `/bots/${idIn(bot.reference)}?tab=Executions`;
  return { kind: 'Bot', name: bot.display ?? 'A Bot', what: failedOf(counts, 'run'), at: last, href };
}

function failedOf({ looked, failed }: Failing, what: string): string {
  if (looked === 1) return `Its latest ${what} failed, on`;
  const plural = what === 'delivery' ? 'deliveries' : `${what}s`;
  return `${failed} of its latest ${looked} ${plural} failed, last on`;
}

function ofSubscription(one: Failures['subscriptions'][number]): Attention {
  const { subscription, status, error, endpoint = '', last, ...counts } = one;
  const stopped = `Stopped${error ? `: ${error}` : ''}`;
  return {
    ...{ kind: 'Delivery', name: subscription.display ?? 'A Subscription' },
    ...(status === 'error'
      ? { what: stopped, at: undefined }
      : { what: failedOf(counts, 'delivery'), at: last }),
    href: endpoint.startsWith('Bot/')
      ? `/bots/${idIn(endpoint)}?tab=Triggers`
      : `/records/${subscription.reference}`,
  };
}

function expiring(members: readonly ProjectMembership[], nowMs: number): Attention[] {
  return members.flatMap((member): Attention[] => {
    const { expires: at } = invitationOf(member) ?? {};
    if (at === undefined || Date.parse(at) > nowMs + soonMs) return [];
    const name = member.profile?.display ?? member.userName ?? 'Somebody';
    const href = `/members/${member.id}`;
    return [{ kind: 'Invitation', name, what: 'Not accepted yet, expires on', at, href }];
  });
}
