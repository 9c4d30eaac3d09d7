import { describe, expect, test } from '@jest/globals';
import { encodeFrame } from '../../mllp/src/frames.ts';
import { splitMessages } from '../../mllp/src/send/send-messages.ts';
import fc from '../setup/fast-check.ts';
import { messageOf } from './sender.ts';

async function split(pieces: Iterable<Buffer | string>): Promise<string[]> {
  async function* input() {
    for (const piece of pieces) yield Buffer.from(piece as string);
  }
  const messages: string[] = [];
  for await (const message of splitMessages(input())) messages.push(message.toString('latin1'));
  return messages;
}

const segment = fc
  .stringMatching(/^[A-Z]{2}[A-Z1-9]\|[ -~\xa0-\xff]{0,30}$/)
  .filter((text) => !/^(MSH|FHS|BHS|BTS|FTS)/.test(text));
const message = fc
  .tuple(fc.stringMatching(/^[a-z0-9]{1,8}$/), fc.array(segment, { maxLength: 5 }))
  .map(([id, segments]) => messageOf(id, {}, segments));
const writings: ((text: string, end: string) => Buffer)[] = [
  (text, end) => Buffer.from(`${text.replaceAll('\r', end)}${end}`, 'latin1'),
  (text, end) => Buffer.from(`\xef\xbb\xbf${text.replaceAll('\r', end)}`, 'latin1'),
  (text) => encodeFrame(Buffer.from(text, 'latin1')),
  (text, end) => Buffer.from(['FHS|^~\\&|A', 'BHS|^~\\&|A', text, 'BTS|1', 'FTS|1', ''].join(end), 'latin1'),
];

test('any messages in any writing, cut anywhere, come out one by one with CR', async () => {
  const written = fc.record({
    text: message,
    writing: fc.nat(3),
    end: fc.constantFrom('\r', '\n', '\r\n'),
    blank: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(written, { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (all, cuts) => {
        const bytes = Buffer.concat(
          all.map(({ text, writing, end, blank }) => {
            const one = writings[writing]?.(text, end) ?? Buffer.alloc(0);
            return Buffer.concat([one, Buffer.from(end.repeat(blank + 1))]);
          }),
        );
        const places = [0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length].sort(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((to, at) => bytes.subarray(places[at], to));
        expect(await split(pieces)).toEqual(all.map(({ text }) => `${text}\r`));
      },
    ),
    { numRuns: 500 },
  );
});

describe('input', () => {
  test('gives a message as soon as the next begins', async () => {
    const seen: string[] = [];
    async function* input() {
      yield Buffer.from(`${messageOf('1')}\r`);
      expect(seen).toEqual([]);
      yield Buffer.from('MSH|^~\\&|\r');
      expect(seen).toHaveLength(1);
    }
    for await (const one of splitMessages(input())) seen.push(one.toString());
    expect(seen).toHaveLength(2);
  });

  test.each([['Quokka'], ['PID|1\rMSH|'], [`${encodeFrame(Buffer.from('MSH|')).toString()}PID|1`]])(
    '%j is no message',
    async (text) => {
      await expect(split([text])).rejects.toThrow(new Error('A message must start with MSH'));
    },
  );

  test('that never ends a message is not held', async () => {
    function* endless() {
      yield 'MSH|^~\\&|\rOBX|';
      for (;;) yield 'A'.repeat(100_000);
    }
    await expect(split(endless())).rejects.toThrow('longer than 4194304 bytes');
    function* segments() {
      yield 'MSH|^~\\&|\r';
      for (;;) yield `OBX|${'A'.repeat(100_000)}\r`;
    }
    await expect(split(segments())).rejects.toThrow('longer than 4194304 bytes');
  });
});
