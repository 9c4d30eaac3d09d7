import { describe, expect, test } from '@jest/globals';
import type { Log } from '../../shared/base/log.ts';
import { Refusal, type RefusalKind } from '../../shared/base/refusal.ts';
import { errorResponse } from '../../shared/carry/http/errors.ts';
import { ConditionFailed } from '../../shared/carry/table/transact.ts';
import fc from '../setup/fast-check.ts';

function answer(error: unknown) {
  const lines: string[] = [];
  const note = (level: string) => (message: string, fields?: object) => {
    lines.push(JSON.stringify({ level, message, ...fields }));
  };
  const log: Log = { info: note('info'), error: note('error') };
  const response = errorResponse(error, log, 'trace-1');
  return { ...response, outcome: JSON.parse(response.body ?? ''), log: lines.join('\n') };
}

function named(name: string, more: object = {}): Error {
  return Object.assign(new Error('secret@example.com'), { name }, more);
}

describe('errorResponse', () => {
  test.each<[RefusalKind, number]>([
    ['invalid', 400],
    ['unauthorized', 401],
    ['forbidden', 403],
    ['not-found', 404],
    ['method-not-allowed', 405],
    ['conflict', 409],
    ['gone', 410],
    ['precondition-failed', 412],
    ['multiple-matches', 412],
    ['too-large', 413],
    ['unsupported-media-type', 415],
    ['unprocessable', 422],
    ['throttled', 429],
    ['unavailable', 503],
  ])('answers %s with %i and an OperationOutcome', (kind, status) => {
    const { statusCode, headers, outcome, log } = answer(new Refusal(kind, 'Public', { reason: 'private' }));
    expect(statusCode).toBe(status);
    expect(headers?.['content-type']).toBe('application/fhir+json; charset=utf-8');
    expect(outcome).toMatchObject({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', details: { text: 'Public' } }],
    });
    expect(JSON.stringify(outcome)).not.toContain('private');
    expect(log).toContain('"reason":"private"');
    expect('www-authenticate' in (headers ?? {})).toBe(status === 401);
  });

  test('names each wrong field', () => {
    const issues = [{ text: 'a', expression: 'email' }, { text: 'b' }];
    expect(answer(new Refusal('invalid', 'x', { issues })).outcome.issue).toEqual([
      { severity: 'error', code: 'invalid', details: { text: 'a' }, expression: ['email'] },
      { severity: 'error', code: 'invalid', details: { text: 'b' } },
    ]);
  });

  test('is short, however much of what was sent it quotes', () => {
    const issues = Array.from({ length: 5000 }, () => ({
      text: '"\ud83d\ude00'.repeat(5000),
      expression: 'a.'.repeat(5000),
    }));
    const { body, outcome } = answer(new Refusal('invalid', 'x', { issues }));
    expect(outcome.issue).toHaveLength(100);
    expect(outcome.issue[0].details.text).toMatch(/^"\p{So}.*…$/u);
    expect(body?.length).toBeLessThan(400_000);
    expect(body).not.toContain('\\ud83d');
  });

  test('says when to come again, and what a path allows', () => {
    expect(answer(new Refusal('throttled', 'x', { retryAfterSeconds: 7 })).headers?.['retry-after']).toBe(
      '7',
    );
    expect(answer(new Refusal('method-not-allowed', 'x', { allow: ['GET', 'PUT'] })).headers?.allow).toBe(
      'GET, PUT',
    );
  });

  test.each([
    'ThrottlingException',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'TransactionInProgressException',
    'TransactionConflictException',
  ])('answers %s of the table with 503 and Retry-After', (name) => {
    expect(answer(named(name))).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });

  test.each([
    Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
    Object.assign(new Error('no answer'), { name: 'TimeoutError' }),
    Object.assign(new Error('x'), { $fault: 'server' }),
  ])('answers a table that does not answer with 503: %s', (error) => {
    expect(answer(error)).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });

  test('answers a file that is missing with 500', () => {
    expect(answer(Object.assign(new Error('x'), { code: 'ENOENT' })).statusCode).toBe(500);
  });

  test('answers a transaction that others kept cancelling with 503', () => {
    const reasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
    expect(answer(named('TransactionCanceledException', { CancellationReasons: reasons }))).toMatchObject({
      statusCode: 503,
    });
  });

  test.each([
    ['an error', new Error('secret@example.com')],
    ['a failed condition that nobody named', new ConditionFailed(['user'])],
    [
      'a transaction that can never succeed',
      named('TransactionCanceledException', { CancellationReasons: [{ Code: 'ValidationError' }] }),
    ],
    ['a wrong request to the table', named('ValidationException')],
    ['a string', 'secret@example.com'],
    ['undefined', undefined],
    ['null', null],
  ])('answers %s with the fixed 500, and says nothing of it', (_, error) => {
    const { statusCode, outcome, log } = answer(error);
    expect(statusCode).toBe(500);
    expect(outcome).toEqual({
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'fatal',
          code: 'exception',
          details: { text: 'Internal server error' },
          diagnostics: 'Trace trace-1',
        },
      ],
    });
    expect(log).toContain('trace-1');
    expect(log).not.toContain('secret@example.com');
  });

  test('has an answer to whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (error) => {
        expect(answer(error).statusCode).toBeGreaterThanOrEqual(400);
      }),
    );
  });
});
