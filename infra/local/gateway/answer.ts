import { isObject } from '../../../shared/base/values.ts';
import { cors } from '../../cors.ts';
import { headerOf, type ReceivedRequest } from './event.ts';

/** A response as node:http sends it. */
export interface GatewayAnswer {
  statusCode: number;
  /** A name may stand more than once (set-cookie). */
  headers: [name: string, value: string][];
  body: Buffer;
}

/** The gateway computes these itself. */
const ownHeaders = /^(?:connection|content-length|date|keep-alive|transfer-encoding)$/;

/** What the gateway says itself, before or instead of a handler. */
export function gatewayAnswer(statusCode: number, message: string): GatewayAnswer {
  return jsonAnswer(statusCode, JSON.stringify({ message }));
}

export function jsonAnswer(statusCode: number, text: string): GatewayAnswer {
  return { statusCode, headers: [['content-type', 'application/json']], body: Buffer.from(text) };
}

/**
 * Reads a handler's result as an HTTP API does (payload format 2.0): an object with `statusCode` is
 * a response, every other value is itself the JSON body of a 200; a response that is no valid one
 * is a 500. A body whose type is not said is plain text; without a body there is no type.
 * @param payload the result as Lambda serialised it
 */
export function answerOf(payload: string): GatewayAnswer {
  const result: unknown = JSON.parse(payload);
  if (!isObject(result) || !('statusCode' in result)) {
    return jsonAnswer(200, payload);
  }
  const { headers = {}, cookies = [], body = '', isBase64Encoded = false } = result;
  const statusCode = Number(result.statusCode);
  const isValid =
    Number.isInteger(statusCode) &&
    statusCode >= 100 &&
    statusCode <= 599 &&
    typeof body === 'string' &&
    isObject(headers) &&
    !Array.isArray(headers) &&
    Object.values(headers).every((value) => ['string', 'number', 'boolean'].includes(typeof value)) &&
    Array.isArray(cookies);
  if (!isValid) return gatewayAnswer(500, 'Internal Server Error');
  const sent = Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), String(value)])
    .filter(([name]) => !ownHeaders.test(name));
  if (body !== '' && !sent.some(([name]) => name === 'content-type'))
    sent.push(['content-type', 'text/plain; charset=utf-8']);
  return {
    statusCode,
    headers: [...sent, ...cookies.map((cookie): [string, string] => ['set-cookie', String(cookie)])],
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}

const loopback = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const methods = 'GET,POST,PUT,PATCH,DELETE';

/** The page that a browser sends a request for, when it was served by this machine. */
export function loopbackOrigin({ rawHeaders }: Pick<ReceivedRequest, 'rawHeaders'>): string | undefined {
  const origin = headerOf(rawHeaders, 'origin');
  return origin !== undefined && loopback.test(origin) ? origin : undefined;
}

/** What API Gateway itself answers a preflight, beside the headers of every answer to such an origin. */
export function preflight(): GatewayAnswer {
  return {
    statusCode: 204,
    headers: [
      ['access-control-allow-methods', methods],
      ['access-control-allow-headers', cors.allowHeaders.join(',')],
      ['access-control-max-age', '7200'],
    ],
    body: Buffer.alloc(0),
  };
}

export function withCors(answer: GatewayAnswer, origin: string): GatewayAnswer {
  return {
    ...answer,
    headers: [
      ...answer.headers,
      ['access-control-allow-origin', origin],
      ['access-control-allow-credentials', 'true'],
      ['access-control-expose-headers', cors.exposeHeaders.join(',')],
      ['vary', 'origin'],
    ],
  };
}
