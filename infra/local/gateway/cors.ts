import { cors } from '../../cors.ts';
import type { Answer } from './answer.ts';
import type { ReceivedRequest } from './event.ts';

const loopback = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const methods = 'GET,POST,PUT,PATCH,DELETE';

/** The page that a browser sends a request for, when it was served by this machine. */
export function loopbackOrigin({ rawHeaders }: Pick<ReceivedRequest, 'rawHeaders'>): string | undefined {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'origin');
  const origin = at < 0 ? undefined : rawHeaders[at + 1];
  return origin !== undefined && loopback.test(origin) ? origin : undefined;
}

/** What API Gateway itself answers a preflight, beside the headers of every answer to such an origin. */
export function preflight(): Answer {
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

export function withCors(answer: Answer, origin: string): Answer {
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
