import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { isPublicAddress } from '../../carry/address-guard/public-address.ts';
import type { SubscriptionRules } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { requireFeature } from '../../identity/projects/settings.ts';
import { unprocessableField } from '../../store/fhir/validate.ts';
import { isStanding } from '../../store/items/content.ts';
import { listAction } from '../subscriptions/listed.ts';
import { maskSecrets, type SentSecret, sealSent, UnknownSecret } from '../subscriptions/secrets.ts';
import {
  extensionsOf,
  isLoopback,
  parseSubscription,
  type Subscription,
} from '../subscriptions/subscription.ts';
import { callersOf } from '../subscriptions/writer.ts';
import type { SentResource } from './parse-resource.ts';
import type { Context } from './write.ts';

/**
 * What a Subscription is stored as. It becomes active when every process that looks for Subscriptions
 * knows it; one of which only the status is sent anew is known.
 * @returns `body`: what is stored, nothing that is kept under seal; `isChange`: a value under seal is another
 */
export function planSubscription(
  context: Context,
  id: string,
  sent: SentResource,
  before: Resource | undefined,
) {
  const { body, secrets } = maskSecrets(sent);
  const isChange = secrets.some(({ value }) => value !== undefined);
  const isSame = before !== undefined && !isChange && saysTheSame(before, body);
  const { error: _ofOurs, ...own } = body;
  const status = statusOf(own.status, isSame, before);
  const error = status === 'error' && before?.error !== undefined ? { error: before.error } : {};
  return {
    body: { ...own, ...(status === undefined ? {} : { status }), ...error },
    isChange,
    /**
     * Once the resource is found valid.
     * @returns further attributes of the head, and actions of the same transaction
     * @throws {Refusal} unprocessable; forbidden in a Project without Subscriptions
     */
    async finish(resource: Resource): Promise<{ head: Record<string, unknown>; more: Action[] }> {
      const rules = context.services.subscriptions;
      if (!rules) throw new Error('This function writes no Subscriptions');
      // Whatever a Project has no more can still be switched off.
      if (resource.status !== 'off') requireFeature(context.actor, 'subscriptions');
      const subscription = parseSubscription(resource, rules.allowsLoopback);
      await requireReachable(context, subscription, rules);
      requireSameEndpoint(secrets, before, resource);
      await requireExpression(resource, subscription);
      return {
        head: {
          // Who only lets it go on lends it nothing: it stays its author's.
          ...(isSame ? {} : { writer: callersOf(context.actor) }),
          isRequested: subscription.status === 'requested' || undefined,
          hasFailed: subscription.status === 'error' || undefined,
        },
        more: [
          listAction(
            context.stamp.project,
            { id, type: subscription.type, since: resource.meta.lastUpdated },
            before !== undefined && before.status !== 'off' && typeOf(before) === subscription.type,
          ),
          ...(await secretActions(context, rules, id, { secrets, before })),
        ],
      };
    },
  };
}

/** What ends with a Subscription. */
export function endSubscriptionActions(project: string, id: string): Action[] {
  return [
    { name: 'listed', remove: keys.subscription(project, id) },
    { name: 'secrets', remove: keys.subscriptionSecrets(project, id) },
  ];
}

function statusOf(sent: unknown, isSame: boolean, before: Resource | undefined): unknown {
  if (sent === 'error' && before?.status !== 'error') {
    throw unprocessableField('status', 'Whether a Subscription is in error is not for a client to say');
  }
  if (sent !== 'requested' && sent !== 'active') return sent;
  return isSame && before?.status !== 'requested' ? 'active' : 'requested';
}

function typeOf({ criteria }: Resource): string {
  return String(criteria).split('?')[0] ?? '';
}

function saysTheSame(before: Resource, sent: SentResource): boolean {
  const plain = ({ id: _id, meta: _meta, status: _status, error: _error, ...rest }: SentResource) => rest;
  return isDeepStrictEqual(plain(before), plain(sent));
}

async function requireReachable(
  { services, stamp }: Context,
  { target }: Subscription,
  { allowsLoopback }: SubscriptionRules,
): Promise<void> {
  if (target.kind === 'bot') {
    const bot = await readItem(services.table, keys.resource(stamp.project, 'Bot', target.botId));
    if (isStanding(bot)) return;
    throw unprocessableField('channel.endpoint', `There is no Bot/${target.botId}`);
  }
  const { hostname } = new URL(target.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0 || isPublicAddress(host) || (allowsLoopback && isLoopback(hostname))) return;
  throw unprocessableField('channel.endpoint', 'The endpoint is not a public address');
}

/**
 * A value that is kept was meant for the endpoint that it came with: else who may write the Subscription, and
 * cannot read the value, would have it sent to an endpoint of their own.
 */
function requireSameEndpoint(
  secrets: readonly SentSecret[],
  before: Resource | undefined,
  after: Resource,
): void {
  const [was, is] = [before, after].map((one) => fieldsOf(one?.channel).endpoint);
  const keepsSome = before !== undefined && secrets.some(({ value }) => value === undefined);
  if (!keepsSome || was === is) return;
  const text = 'Another endpoint is sent headers and secrets of its own: *** keeps those of the one before';
  throw unprocessableField('channel.endpoint', text);
}

/** It is parsed here and evaluated elsewhere, in the sandbox. */
async function requireExpression(resource: Resource, { expression }: Subscription): Promise<void> {
  if (expression === undefined) return;
  const { isFhirPath } = await import('./is-fhir-path.ts');
  if (!isFhirPath(expression)) {
    const at = extensionsOf(resource, 'expression')[0]?.expression ?? 'extension';
    throw unprocessableField(at, 'The expression is not FHIRPath');
  }
}

async function secretActions(
  { services, stamp }: Context,
  rules: SubscriptionRules,
  id: string,
  { secrets, before }: { secrets: readonly SentSecret[]; before: Resource | undefined },
): Promise<Action[]> {
  const holder = { project: stamp.project, subscriptionId: id };
  const key = keys.subscriptionSecrets(stamp.project, id);
  if (secrets.length === 0) return before ? [{ name: 'secrets', remove: key }] : [];
  const stored = before && (await readItem(services.table, key));
  try {
    const sealed = await sealSent(rules.dataKeys, holder, secrets, stored);
    return [{ name: 'secrets', put: { ...key, secrets: sealed } }];
  } catch (error) {
    if (!(error instanceof UnknownSecret)) throw error;
    const text = `*** stands for a value that is kept, and there is none of ${error.message}`;
    throw unprocessableField('extension', text);
  }
}
