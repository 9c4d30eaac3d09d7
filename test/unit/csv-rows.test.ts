import { describe, expect, test } from '@jest/globals';
import { mostBulkRows } from '../../shared/identity/invitations/bulk-columns.ts';
import { csvRows, parseBulk } from '../../shared/identity/invitations/invite-many.ts';
import fc from '../setup/fast-check.ts';

const header = 'resourceType,firstName,lastName,email';
const body = { resourceType: 'Patient', firstName: 'Ann', lastName: 'Lee', email: 'ann@example.com' };
const line = 'Patient,Ann,Lee,ann@example.com';

function file(text: string) {
  return parseBulk('text/csv', Buffer.from(text));
}

describe('csvRows', () => {
  test.each([
    ['LF', `${header}\n${line}\n`],
    ['CRLF', `${header}\r\n${line}\r\n`],
    ['CR', `${header}\r${line}\r`],
    ['no last line end', `${header}\n${line}`],
    ['a byte order mark', `\ufeff${header}\n${line}`],
    ['semicolons', `${header}\n${line}`.replaceAll(',', ';')],
    ['quotes', `"resourceType",firstName,lastName,email\n"Patient","Ann",Lee,ann@example.com`],
    [
      'columns in another order and case',
      `EMAIL,lastname,FirstName,resourceType\nann@example.com,Lee,Ann,Patient`,
    ],
    ['empty lines', `${header}\n\n${line}\n\n`],
  ])('reads a file with %s', async (_, text) => {
    expect(await csvRows(text)).toEqual([{ kind: 'invite', body }]);
  });

  test('turns cells into what an invite has', async () => {
    const columns =
      'sendEmail,admin,mfaRequired,accessPolicy,patient,profile,authentication,scope,externalId';
    const cells =
      'false,TRUE,yes,AccessPolicy/a,Patient/a Patient/b,Patient/p,https://id.example.org,project,7';
    expect(await csvRows(`${columns}\n${cells}`)).toEqual([
      {
        kind: 'invite',
        body: {
          sendEmail: false,
          admin: true,
          mfaRequired: 'yes',
          accessPolicy: { reference: 'AccessPolicy/a' },
          patient: [{ reference: 'Patient/a' }, { reference: 'Patient/b' }],
          profile: { reference: 'Patient/p' },
          authentication: { issuer: 'https://id.example.org' },
          scope: 'project',
          externalId: '7',
        },
      },
    ]);
  });

  test('leaves out empty cells, and marks rows that are empty or of another length', async () => {
    const rows = await csvRows(`${header}\nPatient,Ann,,\n,,,\n , ,,\nPatient,Ann\n${line},more`);
    expect(rows.map(({ kind }) => kind)).toEqual(['invite', 'empty', 'empty', 'refused', 'refused']);
    expect(rows[0]).toEqual({ kind: 'invite', body: { resourceType: 'Patient', firstName: 'Ann' } });
    expect(rows[4]).toMatchObject({ refusal: { message: 'The row has 5 cells, the header 4' } });
  });

  test.each(['=cmd|" /C calc"!A0', '+1+1', '-2', '@SUM(A1)', '\t=1'])(
    'takes the formula %j as text',
    async (formula) => {
      const cell = `"${formula.replaceAll('"', '""')}"`;
      expect(await csvRows(`firstName,lastName\n${cell},Lee`)).toEqual([
        { kind: 'invite', body: { firstName: formula, lastName: 'Lee' } },
      ]);
    },
  );

  test.each([
    ['Unknown column', `${header},acesspolicy\n${line},x`, 'acesspolicy'],
    ['Unknown column', `${header},__proto__\n${line},x`, '__proto__'],
    ['Unknown column', `${header},membership\n${line},x`, 'membership'],
    ['Unknown column', `${header},\n${line},`, ''],
    ['This column is there twice', `${header},Email\n${line},b@example.com`, 'email'],
  ])('refuses a header: %s', async (text, csv, expression) => {
    await expect(csvRows(csv)).rejects.toMatchObject({ kind: 'invalid', issues: [{ text, expression }] });
  });

  test.each([
    ['an open quote', `${header}\n"Patient,Ann`, 'The CSV is malformed at line 2'],
    ['a quote inside a cell', `${header}\nPatient,A"nn,Lee,x`, 'The CSV is malformed at line 2'],
    ['a cell without end', `${header}\nPatient,${'x'.repeat(70_000)}`, 'The CSV is malformed at line 2'],
    ['nothing', '', 'The CSV needs a header row'],
    ['a header alone', header, 'There are no rows'],
  ])('refuses %s', async (_, csv, text) => {
    await expect(file(csv)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(file(csv)).rejects.toMatchObject({
      issues: [expect.objectContaining({ text: expect.stringContaining(text) })],
    });
  });

  test('reads back any cells that were written as RFC 4180 says', async () => {
    const cell = fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== '' && text.length < 1000);
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), async (rows) => {
        const text = ['firstName,lastName', ...rows.map((cells) => cells.map(quoted).join(','))].join('\r\n');
        const read = await csvRows(text);
        expect(read).toEqual(
          rows.map(([firstName, lastName]) => ({ kind: 'invite', body: { firstName, lastName } })),
        );
      }),
    );
  });
});

describe('parseBulk', () => {
  test('reads no more rows than there may be', async () => {
    const many = Buffer.from(`email,firstName\n${'a\n'.repeat(500_000)}`);
    const from = process.threadCpuUsage();
    await expect(parseBulk('text/csv', many)).rejects.toMatchObject({ kind: 'too-large' });
    expect(process.threadCpuUsage(from).user).toBeLessThan(1_000_000);
  });

  test('takes a JSON array of anything, whose rows are checked one by one', async () => {
    const rows = await parseBulk('application/json; charset=utf-8', Buffer.from('[{"a":1},null,3]'));
    expect(rows).toEqual([{ a: 1 }, null, 3].map((one) => ({ kind: 'invite', body: one })));
  });

  test.each([
    ['application/json', '{"a":1}', 'invalid'],
    ['application/json', '[', 'invalid'],
    ['application/json', '[]', 'invalid'],
    ['application/json', `[${'1,'.repeat(mostBulkRows)}1]`, 'too-large'],
    ['text/csv', `${header}\n${`${line}\n`.repeat(mostBulkRows + 1)}`, 'too-large'],
    ['text/csv', 'x'.repeat(1024 * 1024 + 1), 'too-large'],
    ['text/plain', header, 'unsupported-media-type'],
    [undefined, header, 'unsupported-media-type'],
  ])('%s %#: %s', async (contentType, text, kind) => {
    await expect(parseBulk(contentType, Buffer.from(text))).rejects.toMatchObject({ kind });
  });

  test('refuses bytes that are not UTF-8', async () => {
    const latin1 = Buffer.from(`${header}\nPatient,Jos\u00e9,Lee,x`, 'latin1');
    await expect(parseBulk('text/csv', latin1)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test(`takes ${mostBulkRows} rows`, async () => {
    expect(await file(`${header}\n${`${line}\n`.repeat(mostBulkRows)}`)).toHaveLength(mostBulkRows);
  });
});
