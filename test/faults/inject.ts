import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** What DynamoDB, or the way to it, does at one call. */
interface Fault {
  /** Whether the request arrives all the same, and only its answer is lost. */
  arrives: boolean;
  /** Whether every later attempt and call meets it too. */
  lasts: boolean;
  error(commandName: string): Error;
}

const client = (name: string) =>
  Object.assign(new Error(name), { name, $fault: 'client', $metadata: { httpStatusCode: 400 } });
const broken = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const late = () => Object.assign(new Error('no answer'), { name: 'TimeoutError' });
const throttled = () => client('ThrottlingException');
const conflict = (command: string) =>
  command.startsWith('TransactWrite')
    ? new TransactionCanceledException({
        message: 'cancelled',
        $metadata: {},
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      })
    : client('TransactionConflictException');

export const faults: Readonly<Record<string, Fault>> = {
  'is throttled once': { arrives: false, lasts: false, error: throttled },
  'is throttled from then on': { arrives: false, lasts: true, error: throttled },
  'conflicts once': { arrives: false, lasts: false, error: conflict },
  'does not arrive': { arrives: false, lasts: false, error: broken },
  'is not answered': { arrives: true, lasts: false, error: broken },
  'is answered too late': { arrives: true, lasts: false, error: late },
  'is not answered, and nothing arrives after it': { arrives: true, lasts: true, error: broken },
  'does not arrive, nor anything after it': { arrives: false, lasts: true, error: late },
};

/**
 * Lets the n-th attempt of a call, the SDK's own repeats counted, meet a fault while `run` runs.
 * @param n from 1; 0 disturbs nothing
 * @returns what `run` came to, and how many attempts there were
 */
export async function disturbed<T>(
  database: DynamoDBDocumentClient,
  { n, fault }: { n: number; fault: Fault | undefined },
  run: () => Promise<T>,
): Promise<{ attempts: number; result: PromiseSettledResult<T> }> {
  let attempts = 0;
  database.middlewareStack.add(
    (next, context) => async (args) => {
      attempts += 1;
      const isFirst = attempts === n;
      if (!fault || !(isFirst || (fault.lasts && n > 0 && attempts > n))) return next(args);
      if (fault.arrives && isFirst) await next(args);
      throw fault.error(String(context.commandName));
    },
    { step: 'finalizeRequest', priority: 'low', name: 'fault' },
  );
  try {
    const [result] = await Promise.allSettled([run()]);
    return { attempts, result: result as PromiseSettledResult<T> };
  } finally {
    database.middlewareStack.remove('fault');
  }
}

/** Lets `rival` run whole before the n-th attempt of a call arrives, as a request that is delayed there may see. */
export async function overtaken<T>(
  database: DynamoDBDocumentClient,
  n: number,
  run: () => Promise<T>,
  rival: () => Promise<unknown>,
): Promise<PromiseSettledResult<T>[]> {
  let attempts = 0;
  let isRival = false;
  const rivals: PromiseSettledResult<unknown>[] = [];
  database.middlewareStack.add(
    (next) => async (args) => {
      if (!isRival) attempts += 1;
      if (!isRival && attempts === n) {
        isRival = true;
        rivals.push(...(await Promise.allSettled([rival()])));
        isRival = false;
      }
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'fault' },
  );
  try {
    const [result] = await Promise.allSettled([run()]);
    return [result as PromiseSettledResult<T>, ...(rivals as PromiseSettledResult<T>[])];
  } finally {
    database.middlewareStack.remove('fault');
  }
}
