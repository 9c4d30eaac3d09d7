/** What browsers of the allowed origins may send and read: the headers that existing clients use. */
export const cors = {
  allowHeaders: [
    'authorization',
    'cache-control',
    'content-type',
    'idempotency-key',
    'if-match',
    'if-none-exist',
    'if-none-match',
    'prefer',
    'traceparent',
    'x-medplum',
    'x-medplum-on-behalf-of',
    'x-run-key',
    'x-security-context',
    'x-trace-id',
  ],
  exposeHeaders: [
    'content-location',
    'etag',
    'expires',
    'last-modified',
    'location',
    'retry-after',
    'x-progress',
    'x-trace-id',
  ],
} as const;
