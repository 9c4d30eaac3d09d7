import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import {
  FetchRefused,
  type GuardedResponse,
  guardedRequest,
} from '../../shared/address-guard/guarded-request.ts';
import { runSettings } from '../../shared/bot/project-settings.ts';
import { errorCode, errorName } from '../../shared/error-name.ts';
import { stringifyJson } from '../../shared/fhir/json.ts';
import { plainMeta } from '../../shared/fhir/plain-meta.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { isAllowedHost } from '../../shared/sandbox/allowed-hosts.ts';
import { admitAuthor } from '../../shared/subscription/author.ts';
import { isLoopback } from '../../shared/subscription/channel.ts';
import type { Delivery } from '../../shared/subscription/delivery.ts';
import { nameOfParts } from '../../shared/subscription/names.ts';
import { openCredentials } from '../../shared/subscription/secrets.ts';
import type { Standing } from '../../shared/subscription/standing.ts';
import { isSuccess } from '../../shared/subscription/success-codes.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import { deliveryHeaders } from './headers.ts';
import type { Prepared } from './prepared.ts';
import type { DeliverServices } from './services.ts';
import type { Verdict } from './verdict.ts';

const longestMs = 10_000;
/** Nothing is made of what is answered. */
const mostAnswerBytes = 64 * 1024;

/** @throws {Refusal} unauthorized, when the author's membership ended */
export async function prepareHook(
  services: DeliverServices,
  { standing, url, project }: { standing: Standing; url: string; project: Item | undefined },
  delivery: Delivery,
): Promise<Prepared> {
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
      return post(services, { url: target, trusted, headers, body, standing });
    },
  };
}

function bodyOf(standing: Standing, delivery: Delivery, seen: Resource): Buffer {
  if (!standing.subscription.sendsRecord) return Buffer.alloc(0);
  const record = { ...seen, meta: plainMeta(seen.meta) };
  return Buffer.from(goesAlong(standing, delivery) ? stringifyJson(record) : '{}');
}

/** Of a deletion only the id is told. */
function goesAlong({ subscription }: Standing, { interaction }: Delivery): boolean {
  return subscription.sendsRecord && interaction !== 'delete';
}

/** Each secret signs for itself, so that its receiver may change it; X-Signature is the first one's. */
async function headersOf(
  services: DeliverServices,
  delivery: Delivery,
  body: Buffer,
): Promise<Record<string, string>> {
  const { project, subscriptionId, deliveryId } = delivery;
  const key = keys.subscriptionSecrets(project, subscriptionId);
  const sealed = (await services.table.read([key])).get(key);
  const { headers, secrets } = await openCredentials(services, { project, subscriptionId }, sealed);
  const seconds = Math.floor(services.now() / 1000);
  const sign = (secret: string, ...parts: (string | Buffer)[]) => {
    const hmac = createHmac('sha256', secret);
    for (const part of parts) hmac.update(part);
    return hmac.digest('hex');
  };
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
          'x-signature': sign(first, body),
          'x-portico-signature': [
            `t=${seconds}`,
            ...secrets.map((secret) => `v1=${sign(secret, `${seconds}.`, body)}`),
          ].join(','),
        }),
  };
}

interface Posting {
  url: URL;
  trusted: boolean;
  headers: Record<string, string>;
  body: Buffer;
  standing: Standing;
}

async function post(services: DeliverServices, { standing, ...request }: Posting): Promise<Verdict> {
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
    const isGood = isSuccess(standing.subscription.successCodes, status);
    const attempted = { outcome: String(status), status, isSuccess: isGood, durationMs };
    if (isGood) return { kind: 'ended', attempted };
    if (!mayMend(status)) return { kind: 'final', attempted };
    return { kind: 'again', attempted, retryAfterMs: retryAfter(headers, services.now()) };
  } catch (error) {
    const durationMs = services.now() - startedAtMs;
    if (error instanceof FetchRefused) {
      return { kind: 'again', attempted: { outcome: 'address refused', isSuccess: false, durationMs } };
    }
    const outcome = errorCode(error) ?? errorName(error);
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
