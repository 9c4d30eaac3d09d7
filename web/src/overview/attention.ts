import type { Bundle, ProjectMembership, Reference } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';
import { invitationOf } from '../members/invitation.ts';

/** Something that somebody should look at, and where. */
export interface Attention {
  kind: 'Bot' | 'Delivery' | 'Invitation';
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
const invitationsLookedAt = 100;

/** What needs attention now. Two requests. */
export async function loadAttention(api: Api, signal: AbortSignal): Promise<AllAttention> {
  const query = `state=pending&_count=${invitationsLookedAt}`;
  const [failures, invited] = await Promise.all([
    api.get<Failures>(`${api.admin}/failures`, signal),
    api.get<Bundle<ProjectMembership>>(`${api.admin}/members?${query}`, signal),
  ]);
  const members = (invited.entry ?? []).flatMap(({ resource }) => resource ?? []);
  const hasMore = invited.link?.some(({ relation }) => relation === 'next') === true;
  return {
    items: [
      ...failures.bots.map(ofBot),
      ...failures.subscriptions.map(ofSubscription),
      ...expiring(members, Date.now()),
    ],
    missing: [
      ...(failures.complete ? [] : ['Not every Bot and Subscription was looked at: there are too many.']),
      ...(hasMore ? [`Only the first ${invitationsLookedAt} open invitations were looked at.`] : []),
    ],
  };
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
