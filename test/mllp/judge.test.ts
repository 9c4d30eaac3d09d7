import { describe, expect, test } from '@jest/globals';
import { judge, TooLate } from '../../mllp/src/service/judge.ts';
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
