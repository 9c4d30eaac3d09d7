import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { stringifyJson } from '../../../base/json.ts';
import { plainMeta, type Resource } from '../../../base/resource.ts';
import { errorCode, errorName } from '../../../base/values.ts';
import { runSettings } from '../../../bots/run/bounds.ts';
import {
  FetchRefused,
  type GuardedResponse,
  guardedRequest,
  isAllowedHost,
} from '../../../carry/address-guard/guarded-request.ts';
import type { Item } from '../../../carry/table/item.ts';
import { keys } from '../../../carry/table/keys.ts';
import { readItem } from '../../../carry/table/table.ts';
import { nameOfParts } from '../change.ts';
import type { RecordDelivery } from '../delivery.ts';
import { openCredentials } from '../secrets.ts';
import { isLoopback, isSuccess, type StandingSubscription } from '../subscription.ts';
import { admitAuthor } from '../writer.ts';
import {
  type DeliverServices,
  type DeliveryVerdict,
  deliveryHeaders,
  type PreparedDelivery,
} from './prepared.ts';

const longestMs = 10_000;
/** Nothing is made of what is answered. */
const mostAnswerBytes = 64 * 1024;

/** @throws {Refusal} unauthorized, when the author's membership ended */
export async function prepareHook(
  services: DeliverServices,
  { standing, url, project }: { standing: StandingSubscription; url: string; project: Item | undefined },
  delivery: RecordDelivery,
): Promise<PreparedDelivery> {
  const actor = await admitAuthor(services, delivery.project, standing.author);
  return {
    actor,
    sendsRecord: goesAlong(standing, delivery),
    longestMs,
    async send(begun, seen) {
      const target = new URL(url);
      const trusted = services.allowsLoopback && isLoopback(target.hostname);
      if (!trusted && !isAllowedHost(target.hostname, runSettings(project).fetchHosts)) {
        return { kind: 'final', attempted: { outcome: 'host not allowed', isSuccess: false } };
      }
      const body = bodyOf(standing, begun, seen);
      const headers = await headersOf(services, begun, body);
      return post(services, standing, { url: target, trusted, headers, body });
    },
  };
}

function bodyOf(standing: StandingSubscription, delivery: RecordDelivery, seen: Resource): Buffer {
  if (!standing.subscription.sendsRecord) return Buffer.alloc(0);
  const record = { ...seen, meta: plainMeta(seen.meta) };
  return Buffer.from(goesAlong(standing, delivery) ? stringifyJson(record) : '{}');
}

/** Of a deletion only the id is told. */
function goesAlong({ subscription }: StandingSubscription, { interaction }: RecordDelivery): boolean {
  return subscription.sendsRecord && interaction !== 'delete';
}

/** Each secret signs for itself, so that its receiver may change it; X-Signature is the first one's. */
async function headersOf(
  services: DeliverServices,
  delivery: RecordDelivery,
  body: Buffer,
): Promise<Record<string, string>> {
  const { project, subscriptionId, deliveryId } = delivery;
  const sealed = await readItem(services.table, keys.subscriptionSecrets(project, subscriptionId));
  const { headers, secrets } = await openCredentials(services, { project, subscriptionId }, sealed);
  const seconds = Math.floor(services.now() / 1000);
  const sign = (secret: string, before = '') =>
    createHmac('sha256', secret).update(before).update(body).digest('hex');
  const [first] = secrets;
  const trace = nameOfParts(deliveryId, String(delivery.attempt), String(delivery.redelivery));
  return {
    ...headers,
    ...deliveryHeaders(delivery),
    'content-type': 'application/fhir+json',
    'content-length': String(body.length),
    traceparent: `00-${deliveryId.slice(0, 32)}-${trace.slice(0, 16)}-01`,
    ...(first === undefined
      ? {}
      : {
          'x-signature': sign(first),
          'x-portico-signature': [
            `t=${seconds}`,
            ...secrets.map((one) => `v1=${sign(one, `${seconds}.`)}`),
          ].join(),
        }),
  };
}

async function post(
  services: DeliverServices,
  { subscription }: StandingSubscription,
  request: { url: URL; trusted: boolean; headers: Record<string, string>; body: Buffer },
): Promise<DeliveryVerdict> {
  const startedAtMs = services.now();
  const { Agent } = request.url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: false });
  try {
    const signal = AbortSignal.timeout(longestMs);
    const { status, headers } = await guardedRequest({
      ...{ ...request, method: 'POST', signal, agent },
      mostBytes: mostAnswerBytes,
    });
    const durationMs = services.now() - startedAtMs;
    const isGood = isSuccess(subscription.successCodes, status);
    const attempted = { outcome: String(status), status, isSuccess: isGood, durationMs };
    if (isGood) return { kind: 'ended', attempted };
    if (!mayMend(status)) return { kind: 'final', attempted };
    return { kind: 'again', attempted, retryAfterMs: retryAfter(headers, services.now()) };
  } catch (error) {
    const durationMs = services.now() - startedAtMs;
    const isRefused = error instanceof FetchRefused;
    const outcome = isRefused ? 'address refused' : (errorCode(error) ?? errorName(error));
    return { kind: 'again', attempted: { outcome, isSuccess: false, durationMs } };
  }
}

/** What a redirect leads to is not asked. */
function mayMend(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfter(headers: GuardedResponse['headers'], nowMs: number): number {
  const value = headers.find(([name]) => name === 'retry-after')?.[1] ?? '';
  if (/^\d{1,6}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}
