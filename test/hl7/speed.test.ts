import { describe, expect, test } from '@jest/globals';
import { Hl7Message } from '../../shared/hl7/message.ts';
import { normalise } from '../../shared/hl7/normalise.ts';

const MIB = 1024 * 1024;
const HEADER = 'MSH|^~\\&|A|B|C|D|2024||ORU^R01|1|P|2.5';

/** A message of about that many bytes. */
const shapes: [name: string, make: (bytes: number) => string][] = [
  ['one OBX', (bytes) => `${HEADER}\rOBX|1|ED|||${'QUJD'.repeat(bytes / 4)}|F`],
  [
    'many segments',
    (bytes) => [HEADER, ...lines(bytes, (n) => `OBX|${n}|TX|a^b||${'text '.repeat(18)}`)].join('\r'),
  ],
  ['segments without a separator', (bytes) => [HEADER, ...lines(bytes, () => 'ZZZ', 32)].join('\n')],
  ['escape characters only', (bytes) => `${HEADER}\rOBX|1|TX|||${'\\'.repeat(bytes)}`],
  ['one long hexadecimal sequence', (bytes) => `${HEADER}\rOBX|1|TX|||\\X${'41'.repeat(bytes / 2)}\\`],
  ['repetitions only', (bytes) => `${HEADER}\rOBX|1|TX|||${'~'.repeat(bytes)}x`],
];

describe.each(shapes)('a large message of %s', (_, make) => {
  const small = make(MIB / 2);
  const large = make(4 * MIB);

  // Eight times the text: 8 when linear, 64 when quadratic. Garbage collection blurs both, and processor
  // time what other processes do less than the clock.
  test.each([
    ['parsed, read and printed', read],
    ['normalised', normaliseWhole],
  ])('is %s in linear time', (_, work) => {
    work(small);
    const ratio =
      fastestMs(() => work(large)) /
      Math.max(
        fastestMs(() => work(small)),
        1,
      );
    expect(ratio).toBeLessThan(32);
  });
});

function read(text: string): void {
  const message = Hl7Message.parse(text);
  expect(message.getAll('OBX.5').length + message.getAll('ZZZ.1').length).toBeGreaterThanOrEqual(0);
  expect(message.get('OBX.1')).not.toBe('');
  expect(message.toString()).toHaveLength(text.length);
}

function normaliseWhole(text: string): void {
  expect(normalise(text).length).toBeGreaterThan(text.length);
}

function fastestMs(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

function lines(bytes: number, make: (n: number) => string, length = 104): string[] {
  return Array.from({ length: Math.floor(bytes / length) }, (_, n) => make(n + 1));
}
