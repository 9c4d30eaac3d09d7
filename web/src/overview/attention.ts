import type { AuditEvent, Bundle, ProjectMembership, Reference } from '@medplum/fhirtypes';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import type { Api } from '../api/use-api.ts';
import { lastUsedOf } from '../clients/client.ts';
import { invitationOf } from '../members/invitation.ts';

/** Something that somebody should look at, and where. */
export interface Attention {
  kind: 'Bot' | 'Delivery' | 'Invitation' | 'API key' | 'Emergency access';
  name: string;
  what: string;
  /** ISO 8601: when it failed last, or when it expires. */
  at: string | undefined;
  href: string;
}

export interface AllAttention {
  items: Attention[];
  /** What was not looked at, in words. */
  missing: string[];
}

/** What `admin/projects/<id>/failures` answers. */
interface Failures {
  bots: (Failing & { bot: Reference })[];
  subscriptions: (Failing & { subscription: Reference; status: string; error?: string; endpoint?: string })[];
  complete: boolean;
}

interface Failing {
  looked: number;
  failed: number;
  last?: string;
}

const soonMs = 48 * 60 * 60_000;
/** Of open invitations, and of keys. */
const membersLookedAt = 100;
/** Of each kind; the rest is a line that leads to all of them. */
const mostLines = 5;
/** Emergency access is to be looked into afterwards. */
const emergenciesMs = 30 * 24 * 60 * 60_000;
/** The latest. */
const emergenciesLookedAt = 50;

/** What needs attention now. Four requests. */
export async function loadAttention(api: Api, signal: AbortSignal): Promise<AllAttention> {
  const membersThat = (condition: string) =>
    api.get<Bundle<ProjectMembership>>(`${api.admin}/members?${condition}&_count=${membersLookedAt}`, signal);
  const from = new Date(Date.now() - emergenciesMs).toISOString();
  const emergenciesAsked = `subtype=emergency-access&date=ge${from}&_sort=-date&_count=${emergenciesLookedAt}`;
  const [failures, invited, keys, emergencies] = await Promise.all([
    api.get<Failures>(`${api.admin}/failures`, signal),
    membersThat('state=pending'),
    membersThat('profile-type=ClientApplication'),
    api.get<Bundle<AuditEvent>>(`fhir/R4/AuditEvent?${emergenciesAsked}`, signal).catch(whereAllowed),
  ]);
  return {
    items: [
      ...atMost(emergencies ? ofEmergencies(emergencies) : [], '/audit?what=emergency-access', 'more people'),
      ...atMost(failures.bots.map(ofBot), '/bots', 'more Bots'),
      ...atMost(failures.subscriptions.map(ofSubscription), '/bots', 'more Subscriptions'),
      ...atMost(expiring(membersIn(invited), Date.now()), '/members?state=pending', 'more invitations'),
      ...atMost(neverUsed(membersIn(keys)), '/clients', 'more keys'),
    ],
    missing: [
      ...(emergencies
        ? []
        : ['Emergency access was not looked at: your own policy does not show the audit log.']),
      ...(failures.complete ? [] : ['Not every Bot and Subscription was looked at: there are too many.']),
      ...(hasMore(invited) ? [`Only the first ${membersLookedAt} open invitations were looked at.`] : []),
      ...(hasMore(keys) ? [`Only the first ${membersLookedAt} API keys were looked at.`] : []),
    ],
  };
}

/** An administrator whose policy leaves the audit log out sees the rest. */
function whereAllowed(error: unknown): undefined {
  if (!(error instanceof OperationOutcomeError && error.status === 403)) throw error;
}

function atMost(items: Attention[], href: string, more: string): Attention[] {
  const [first] = items;
  if (!first || items.length <= mostLines) return items;
  const rest = {
    kind: first.kind,
    name: `${items.length - mostLines} ${more}`,
    what: '',
    at: undefined,
    href,
  };
  return [...items.slice(0, mostLines), rest];
}

function membersIn({ entry = [] }: Bundle<ProjectMembership>): ProjectMembership[] {
  return entry.flatMap(({ resource }) => resource ?? []);
}

function hasMore({ link }: Bundle): boolean {
  return link?.some(({ relation }) => relation === 'next') === true;
}

/** Who has taken emergency access, with the latest time of each. */
function ofEmergencies({ entry = [] }: Bundle<AuditEvent>): Attention[] {
  const latest = new Map<string, Attention>();
  for (const { resource } of entry) {
    const href = `/members/${idOf(resource?.entity?.[0]?.what?.reference)}`;
    const name = resource?.agent[0]?.who?.display ?? 'A member';
    const what = 'Took emergency access, last on';
    if (!latest.has(href))
      latest.set(href, { kind: 'Emergency access', name, what, at: resource?.recorded, href });
  }
  return [...latest.values()];
}

function neverUsed(keys: readonly ProjectMembership[]): Attention[] {
  return keys.flatMap((key) => {
    if (lastUsedOf(key) !== undefined) return [];
    const { display: name = 'An API key', reference } = key.profile ?? {};
    const href = `/clients/${idOf(reference)}`;
    return [{ kind: 'API key' as const, name, what: 'Never used', at: undefined, href }];
  });
}

function ofBot({ bot, looked, failed, last }: Failures['bots'][number]): Attention {
  return {
    ...{ kind: 'Bot', name: bot.display ?? 'A Bot', at: last },
    what:
      looked === 1 ? 'Its latest run failed, on' : `${failed} of its latest ${looked} runs failed, last on`,
    href: `/bots/${idOf(bot.reference)}?tab=Executions`,
  };
}

function ofSubscription(one: Failures['subscriptions'][number]): Attention {
  const { subscription, status, error, endpoint = '', looked, failed, last } = one;
  const stopped = `Stopped${error ? `: ${error}` : ''}`;
  const deliveries =
    looked === 1
      ? 'Its latest delivery failed, on'
      : `${failed} of its latest ${looked} deliveries failed, last on`;
  return {
    ...{ kind: 'Delivery', name: subscription.display ?? 'A Subscription' },
    ...(status === 'error' ? { what: stopped, at: undefined } : { what: deliveries, at: last }),
    href: endpoint.startsWith('Bot/')
      ? `/bots/${idOf(endpoint)}?tab=Triggers`
      : `/records/${subscription.reference}`,
  };
}

/** Invitations that nobody can accept any more in two days. */
function expiring(members: readonly ProjectMembership[], nowMs: number): Attention[] {
  return members.flatMap((member) => {
    const { expires } = invitationOf(member) ?? {};
    if (expires === undefined || Date.parse(expires) > nowMs + soonMs) return [];
    const name = member.profile?.display ?? member.userName ?? 'Somebody';
    return [
      {
        kind: 'Invitation' as const,
        name,
        what: 'Not accepted yet, expires on',
        at: expires,
        href: `/members/${member.id}`,
      },
    ];
  });
}

function idOf(reference = ''): string {
  return reference.split('/')[1] ?? '';
}
