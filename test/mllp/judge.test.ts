import { describe, expect, test } from '@jest/globals';
import { OAuthError } from '../../client/src/tokens.ts';
import { deliver } from '../../mllp/src/receive/deliver.ts';
import type { Connection, Receiver } from '../../mllp/src/receive/receiver.ts';
import { judge, NoToken, TooLate } from '../../mllp/src/service/judge.ts';
import { readEndedJob } from '../../mllp/src/service/read-answer.ts';
import { untilDecided } from '../../mllp/src/service/service.ts';

const refused = () => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });

describe('a request for which no time was left', () => {
  test('is not worth another attempt, and is no reason of its own', () => {
    expect(judge(new TooLate(), false)).toEqual({ kind: 'hopeless', text: '' });
    expect(judge(refused(), true)).toMatchObject({ kind: 'again', mayHaveRun: false });
  });

  const within = (ms: number) => ({
    deadlineMs: performance.now() + ms,
    signal: new AbortController().signal,
  });

  test('gives up at once, and says so', async () => {
    const call = async ({ onSend }: { onSend(): void }) => onSend();
    expect(await untilDecided(call, within(400))).toEqual({
      ...{ kind: 'given-up', mayHaveRun: false, attempts: 1 },
      text: 'No time was left to ask the service',
    });
  });

  test('gives up for the reason of the attempt before', async () => {
    let attempts = 0;
    const call = async () => {
      attempts += 1;
      throw attempts === 1 ? refused() : new TooLate();
    };
    expect(await untilDecided(call, within(20_000))).toEqual({
      ...{ kind: 'given-up', mayHaveRun: false, attempts: 2 },
      text: 'The service does not answer (ECONNREFUSED)',
    });
  });
});

test.each([
  [399, 'again'],
  [400, 'hopeless'],
  [401, 'hopeless'],
  [429, 'again'],
  [500, 'again'],
])('a token endpoint that answers %i is asked again, or not: %s', (status, kind) => {
  const cause = new OAuthError(status, 'invalid_client', 'no');
  expect(judge(new NoToken('no', { cause }), false)).toMatchObject({ kind });
});

test.each([
  [undefined, 'failed'],
  ['outcome-unknown', 'unknown'],
])('a job that ended in an error whose outcome is %s has %s', (id, kind) => {
  const resource = { resourceType: 'OperationOutcome', id, issue: [] };
  const output = { parameter: [{ name: 'outcome', resource }] };
  expect(readEndedJob({ status: 'error', output })).toMatchObject({ kind });
});

test('a failure that its sender reads no acknowledgement of is no alarm: it repeats the message', async () => {
  const levels: string[] = [];
  const receiver = { log: (level: string) => levels.push(level), metrics: { add() {} } };
  const connection = { gone: new AbortController().signal, reply: async () => false };
  const handled = { controlId: '1', bytes: 1, startedAtMs: 0 };
  const reply = { bytes: Buffer.from('MSH'), code: 'AE' as const };
  const told = { of: 'message' as const, outcome: { kind: 'failed' as const, text: 'no' }, reply };
  await deliver(receiver as object as Receiver, connection as object as Connection, handled, told);
  expect(levels).toEqual(['warn']);
});
