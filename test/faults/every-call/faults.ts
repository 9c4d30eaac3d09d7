/** The services that functions call over HTTP; a hook is somebody's who is told of changes. */
export type Service = 'table' | 'kms' | 'mail' | 'queues' | 'invoker' | 'jobs' | 'bus' | 'hook';

/** An answer that a service might give. */
export interface Said {
  status: number;
  headers?: Record<string, string>;
  body: object;
}

/** What a service, or the way to it, does at one call. */
export interface Fault {
  /** Whether the request arrives all the same, and only its answer is lost. */
  arrives: boolean;
  /** Which later calls meet it too, repeats of the same one included. */
  lasts?: 'of this service' | 'of any service';
  /** What the caller gets in place of an answer; the connection breaks where there is none. */
  say?(service: Service, operation: string, request: Record<string, unknown>): Said;
}

const json = { 'content-type': 'application/x-amz-json-1.0' };

/** Lambda and SES name an error in a header, the others in the body. */
function named(service: Service, name: string, status = 400, more: object = {}): Said {
  return {
    status,
    headers: { ...json, 'x-amzn-errortype': name },
    body: { ...(service === 'table' ? { __type: `com.amazonaws#${name}` } : { __type: name }), ...more },
  };
}

const throttles: Record<Service, string> = {
  table: 'ThrottlingException',
  kms: 'ThrottlingException',
  mail: 'TooManyRequestsException',
  queues: 'RequestThrottled',
  invoker: 'TooManyRequestsException',
  jobs: 'TooManyRequestsException',
  bus: 'ThrottlingException',
  hook: 'Too many requests',
};

const throttled: Fault['say'] = (service) => named(service, throttles[service], 429);
/** The SDK and the functions know a request that was waited for in vain by this name. */
const late: Fault['say'] = (service) => named(service, 'TimeoutError');

/** Whether a fault leaves it open what became of a request. */
export function isSilent({ say }: Fault): boolean {
  return say === undefined || say === late;
}

/** Each service's own way to take nothing of a request that reached it. */
const refuses: Record<Service, NonNullable<Fault['say']>> = {
  table: (service, operation) =>
    operation === 'TransactWriteItems'
      ? named(service, 'TransactionCanceledException', 400, {
          CancellationReasons: [{ Code: 'TransactionConflict' }],
        })
      : named(service, 'TransactionConflictException'),
  kms: (service) => named(service, 'KMSInternalException', 500),
  queues: (_service, _operation, { Entries = [] }) => ({
    status: 200,
    headers: json,
    body: {
      Successful: [],
      Failed: (Entries as { Id: string }[]).map(({ Id }) => ({
        Id,
        Code: 'InternalError',
        SenderFault: false,
      })),
    },
  }),
  bus: () => ({
    status: 200,
    headers: json,
    body: { FailedEntryCount: 1, Entries: [{ ErrorCode: 'InternalFailure' }] },
  }),
  mail: (service) => named(service, 'InternalServiceErrorException', 500),
  /** The function died. */
  invoker: () => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-amz-function-error': 'Unhandled' },
    body: { errorType: 'Runtime.ExitError', errorMessage: 'exited' },
  }),
  jobs: (service) => named(service, 'ServiceException', 500),
  hook: (service) => named(service, 'Out of order', 500),
};

/** As test/faults/inject.ts has them for the table alone, in the words of each service. */
export const faults = {
  'is throttled once': { arrives: false, say: throttled },
  'is throttled from then on': { arrives: false, lasts: 'of this service', say: throttled },
  'is not taken once': { arrives: false, say: (service, ...asked) => refuses[service](service, ...asked) },
  'does not arrive': { arrives: false },
  'is not answered': { arrives: true },
  'is answered too late': { arrives: true, say: late },
  'is not answered, and nothing arrives after it': { arrives: true, lasts: 'of any service' },
  'does not arrive, nor anything after it': { arrives: false, lasts: 'of any service', say: late },
} as const satisfies Record<string, Fault>;

export type Kind = keyof typeof faults;
