import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { isId } from '../../shared/base/resource.ts';
import { logEntryId, placeOfEntry, runRecordId } from '../../shared/carry/table/entry-id.ts';
import { keys, parseHead } from '../../shared/carry/table/keys.ts';
import fc from '../setup/fast-check.ts';

const atMs = fc.integer({ min: 0, max: Date.UTC(5000, 0) });

describe('the id of an audit entry', () => {
  test('is an id of R4, and says when it was and of which Bot', () => {
    fc.assert(
      fc.property(atMs, fc.uuid({ version: 4 }), fc.uuid({ version: 4 }), (ms, bot, random) => {
        const [entry, run] = [logEntryId(ms, random), runRecordId(bot, ms, random)];
        expect([isId(entry), isId(run)]).toEqual([true, true]);
        expect(placeOfEntry(entry)).toEqual({ botId: undefined, atMs: ms });
        expect(placeOfEntry(run)).toEqual({ botId: bot, atMs: ms });
      }),
    );
  });

  test('leads to its key, and its key back to it', () => {
    fc.assert(
      fc.property(atMs, fc.uuid({ version: 4 }), fc.boolean(), (ms, bot, isRun) => {
        const id = isRun ? runRecordId(bot, ms, randomUUID()) : logEntryId(ms, randomUUID());
        const key = keys.resource('p', 'AuditEvent', id);
        expect(key.sk.startsWith(`${new Date(ms).toISOString()}#`)).toBe(true);
        expect(parseHead(key)).toEqual({ project: 'p', type: 'AuditEvent', id });
        expect(keys.resource('p', 'Patient', id)).toEqual({ pk: `P#p#Patient#${id}`, sk: 'HEAD' });
      }),
    );
  });

  test('says nothing in any other form, and leads into no other Project', () => {
    const id = fc.string({ maxLength: 70, unit: fc.constantFrom(...'ar0123456789abcdefz-.#') });
    fc.assert(
      fc.property(fc.oneof(id, fc.uuid()), (text) => {
        fc.pre(placeOfEntry(text) === undefined);
        expect(keys.resource('p', 'AuditEvent', text)).toEqual({ pk: `P#p#AuditEvent#${text}`, sk: 'HEAD' });
      }),
    );
    for (const text of [
      ...['', 'a', 'azzzzzzzzz-', `azzzzzzzzz-${'g'.repeat(20)}`, `Azzzzzzzzz-${'0'.repeat(20)}`],
      `r${'0'.repeat(31)}-zzzzzzzzz-${'0'.repeat(20)}`,
    ]) {
      expect(placeOfEntry(text)).toBeUndefined();
    }
    const last = keys.resource('p', 'AuditEvent', `azzzzzzzzz-${'0'.repeat(20)}`);
    expect(last.pk.startsWith('P#p#AuditEvent#LOG#')).toBe(true);
  });

  test('is not that of an item that only leads to an entry of an earlier release', () => {
    expect(
      parseHead(keys.run('p', randomUUID(), 0, `2026-01-01T00:00:00.000Z#${randomUUID()}`)),
    ).toBeUndefined();
    expect(parseHead(keys.logEntry('p', 0, `2026-01-01T00:00:00.000Z#${randomUUID()}`))).toBeUndefined();
  });

  test('cannot be made of a Bot whose id is no UUID', () => {
    expect(() => runRecordId('bot', 0, randomUUID())).toThrow('no UUID');
  });
});
