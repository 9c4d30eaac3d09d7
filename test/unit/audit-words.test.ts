import { expect, test } from '@jest/globals';
import type { AuditEvent } from '@medplum/fhirtypes';
import { parseOutcome } from '../../shared/identity/audit/audit-event.ts';
import { subtypes } from '../../shared/identity/audit/subtypes.ts';
import { auditCsv, deeds } from '../../web/src/audit/audit-entry.ts';

test('the app has words for all that the audit log tells of', () => {
  const { '': _everything, ...words } = deeds;
  expect(Object.keys(words).sort()).toEqual([...subtypes].sort());
  expect(new Set(Object.values(deeds)).size).toBe(Object.keys(deeds).length);
});

test.each([
  ['success', '0'],
  ['failure', '4'],
  ['unknown', '8'],
])('an outcome is said by its word, %s, or by its code, %s', (word, code) => {
  expect([parseOutcome(word), parseOutcome(code)]).toEqual([code, code]);
});

test.each(['', 'Failure', '12', 'constructor', '__proto__'])('%j is no outcome', (word) => {
  expect(() => parseOutcome(word)).toThrow('outcome must be success, failure or unknown');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1'])(
  '%j is no formula in the CSV',
  (display) => {
    const event = { agent: [{ who: { display } }] } as AuditEvent;
    const [, row = ''] = auditCsv([event]).split('\r\n');
    const [, , , who = ''] = row.split(',');
    expect(who.replace(/^"/, '')).toMatch(/^'/);
  },
);
