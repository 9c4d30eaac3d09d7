import { expect, test } from '@jest/globals';
import type { AuditEvent } from '@medplum/fhirtypes';
import { subtypes } from '../../shared/identity/audit/subtypes.ts';
import { auditCsv, deeds } from '../../web/src/audit/audit-entry.ts';

test('the app has words for all that the audit log tells of', () => {
  const words = deeds.map(({ value }) => value).filter((value) => value !== '');
  expect([...words].sort()).toEqual([...subtypes].sort());
  expect(new Set(deeds.map(({ label }) => label)).size).toBe(deeds.length);
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
