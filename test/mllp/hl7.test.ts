import { describe, expect, test } from '@jest/globals';
import { buildAck, idempotencyKey, isMalformed, readHeader } from '../../mllp/src/hl7.ts';
import { ackModeOf, type Outcome, replyTo, wantsAcceptance } from '../../mllp/src/receive/acknowledge.ts';
import { readAnswer } from '../../mllp/src/service/read-answer.ts';
import fc from '../setup/fast-check.ts';
import { messageOf, msaOf } from './sender.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');
const headerOf = (fields: Record<number, string>) => readHeader(latin(messageOf('7', fields)));
const printable = fc
  .stringMatching(/^[\x20-\x7e\x80-\xff]{0,12}$/)
  .map((text) => text.replace(/[|^~\\&]/g, '.'));

describe('an acknowledgement', () => {
  test('gives back what it copies byte for byte, in any character set and in none', () => {
    const charset = fc.constantFrom('', '8859/1', '8859/2', 'UNICODE UTF-8', 'BIG-5', 'nonsense');
    fc.assert(
      fc.property(printable, printable, charset, (application, controlId, name) => {
        const bytes = latin(messageOf(controlId, { 3: application, 18: name }));
        const ack = buildAck(readHeader(bytes), 'AE', 'Grüße €').toString('latin1');
        expect(ack.split('|').slice(2, 6)).toEqual(['PORTICO', 'DEMO', application, 'CLINIC']);
        expect(msaOf(ack).slice(0, 2)).toEqual(['AE', controlId]);
      }),
    );
  });

  test('says no more than 250 characters, and none that its character set does not have', () => {
    const ack = buildAck(headerOf({ 18: '8859/1' }), 'AE', `€${'x'.repeat(300)}`);
    const [, , text = ''] = msaOf(ack.toString('latin1'));
    expect([text.length, text.slice(0, 2), text.slice(-4)]).toEqual([250, '?x', 'x...']);
  });

  test('of a content without MSH is addressed to nobody', () => {
    expect(msaOf(buildAck(undefined, 'AR', 'no').toString())).toEqual(['AR', '', 'no']);
  });
});

describe('MSH', () => {
  test.each<[string, string | undefined]>([
    [messageOf('7'), '7'],
    [`\xef\xbb\xbf${messageOf('7')}`, '7'],
    [`\r\n${messageOf('7')}`, '7'],
    [`FHS|^~\\&\rBHS|^~\\&\r${messageOf('7')}`, '7'],
    ['MSH#*+?%#A#B#C#D#2026##ADT*A01#7#P#2.5', '7'],
    ['MSH|^~\\&', ''],
    ['MSH', undefined],
    ['PID|1', undefined],
    ['', undefined],
    ['xMSH|^~\\&|A', undefined],
  ])('of %j', (text, controlId) => expect(readHeader(latin(text))?.controlId).toBe(controlId));

  test('is looked for at the beginning only, whatever the length', () => {
    const began = process.cpuUsage();
    expect(readHeader(Buffer.alloc(4_000_000, 'MS\r'))).toBeUndefined();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
  });

  test('never throws', () => {
    const start = fc.constantFrom('MSH', 'MSH|', 'MSH|^~\\&|', 'MSH|^~\\&|A|B|C|D||||x|');
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), (text, bytes) => {
        const content = Buffer.concat([latin(text), bytes]);
        const header = readHeader(content);
        buildAck(header, 'AE', 'x');
        isMalformed(content);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an Idempotency-Key', () => {
  const keyOf = (text: string, purpose = ['wait', 'bot']) =>
    idempotencyKey(readHeader(latin(text))?.identity ?? [], latin(text), purpose);

  test('is that of the same message, for the same purpose only', () => {
    const text = messageOf('7');
    expect(keyOf(text)).toBe(keyOf(text));
    const others = [
      keyOf(messageOf('8')),
      keyOf(`${text}\r`),
      keyOf(text, ['wait', 'other']),
      keyOf(text, ['accept', 'bot']),
      keyOf(text, ['wait', 'b', 'ot']),
      keyOf(messageOf('7', { 3: 'OTHER' })),
      keyOf(messageOf('7', { 7: '2027' })),
    ];
    expect(new Set([keyOf(text), ...others]).size).toBe(others.length + 1);
  });
});

describe('what goes back', () => {
  const outcomes: Outcome[] = [
    { kind: 'done', answer: undefined },
    { kind: 'done', answer: { bytes: latin('MSH|^~\\&|\rMSA|AE|7|own'), code: 'AE' } },
    { kind: 'accepted', jobId: 'j' },
    { kind: 'failed', text: 't' },
    { kind: 'rejected', text: 't' },
    { kind: 'not-run', text: 't' },
    { kind: 'unknown', text: 't' },
  ];
  /** For each outcome in turn; `-` is nothing. */
  test.each([
    ['', '', 'AA AE - AE AR AE AE'],
    ['AL', 'AL', 'AA AE CA AE CR CE CE'],
    ['AL', 'NE', '- - CA - CR CE CE'],
    ['AL', '', '- - CA - CR CE CE'],
    ['NE', 'AL', 'AA AE - AE AR AE AE'],
    ['', 'AL', 'AA AE - AE AR AE AE'],
    ['NE', 'NE', '- - - - - - -'],
    ['ER', 'ER', '- AE - AE CR CE CE'],
    ['SU', 'ER', '- AE CA AE AR AE AE'],
    ['SU', 'SU', 'AA - CA - - - -'],
    ['Quokka', '', 'AA AE - AE AR AE AE'],
  ])('for MSH-15 %j and MSH-16 %j: %s', (accept, application, codes) => {
    const message = headerOf({ 15: accept, 16: application });
    const mode = ackModeOf(message);
    const replies = outcomes.map((outcome) => replyTo(message, mode, outcome));
    expect(replies.map((reply) => (reply ? msaOf(reply.bytes.toString())[0] : '-')).join(' ')).toBe(codes);
    expect(replies.map((reply) => reply?.code ?? '-').join(' ')).toBe(codes);
    expect(wantsAcceptance(mode)).toBe(codes.includes('CA'));
  });

  test('AA is said of nothing but what was done', () => {
    const modes = ['', 'AL', 'NE', 'ER', 'SU'];
    for (const accept of modes) {
      for (const application of modes) {
        const message = headerOf({ 15: accept, 16: application });
        for (const outcome of outcomes.filter(({ kind }) => kind !== 'done')) {
          const reply = replyTo(message, ackModeOf(message), outcome);
          expect(reply?.bytes.toString() ?? '').not.toContain('MSA|AA');
          if (outcome.kind !== 'accepted') expect(reply?.bytes.toString() ?? '').not.toContain('MSA|CA');
        }
      }
    }
  });
});

describe("a Bot's answer", () => {
  const hl7 = 'x-application/hl7-v2+er7';
  const text = 'MSH|^~\\&|A|B\rMSA|AA|7|é';

  test.each<[string, string, Buffer, string | undefined]>([
    ['in UTF-8 as it is', `${hl7}; charset=utf-8`, Buffer.from(text), 'MSH|^~\\&|A|B\rMSA|AA|7|Ã©'],
    [
      'in the character set that it names',
      `${hl7}; charset=utf-8`,
      Buffer.from(text.replace('B\r', 'B||||||||||||||8859/1\r')),
      'MSH|^~\\&|A|B||||||||||||||8859/1\rMSA|AA|7|é',
    ],
    [
      'in the one that it came in',
      `${hl7}; charset=iso-8859-1`,
      latin(text.replace('B\r', 'B||||||||||||||8859/1\r')),
      'MSH|^~\\&|A|B||||||||||||||8859/1\rMSA|AA|7|é',
    ],
    [
      'without its own frame',
      hl7,
      Buffer.from('\v\ufeffMSH|^~\\&|A\nMSA|AA|7\r\u001c\r'),
      'MSH|^~\\&|A\rMSA|AA|7',
    ],
    ['that is text', `${hl7}; charset=utf-8`, Buffer.from('thanks'), undefined],
    ['that is JSON', 'application/json', Buffer.from('"MSH|^~\\\\&|A"'), undefined],
    ['that is an outcome', 'application/fhir+json; charset=utf-8', Buffer.from('{}'), undefined],
  ])('%s', (_name, contentType, body, expected) => {
    const outcome = readAnswer({ contentType, body });
    expect(outcome.kind).toBe('done');
    expect(outcome.kind === 'done' ? outcome.answer?.bytes.toString('latin1') : '').toBe(expected);
  });
});
