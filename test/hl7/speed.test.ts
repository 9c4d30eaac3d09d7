import { describe, expect, test } from '@jest/globals';
import { Hl7Message } from '../../shared/bots/hl7/message.ts';
import { normalise } from '../../shared/bots/hl7/standard.ts';

const MIB = 1024 * 1024;
const HEADER = 'MSH|^~\\&|A|B|C|D|2024||ORU^R01|1|P|2.5';

interface Shape {
  /** A message of about that many bytes. */
  make(bytes: number): string;
  /** How many segments it has beside its header. */
  segments(bytes: number): number;
  /** The length of its first OBX-5, decoded; none where that is missing or empty. */
  value?(bytes: number): number;
}

const one = () => 1;
const shapes: [name: string, shape: Shape][] = [
  [
    'one OBX',
    {
      make: (bytes) => `${HEADER}\rOBX|1|ED|||${'QUJD'.repeat(bytes / 4)}|F`,
      segments: one,
      value: (bytes) => bytes,
    },
  ],
  [
    'many segments',
    {
      make: (bytes) => [HEADER, ...lines(bytes, (n) => `OBX|${n}|TX|a^b||${'text '.repeat(18)}`)].join('\r'),
      segments: (bytes) => Math.floor(bytes / 104),
      value: () => 90,
    },
  ],
  [
    'segments without a separator',
    {
      make: (bytes) => [HEADER, ...lines(bytes, () => 'ZZZ', 32)].join('\n'),
      segments: (bytes) => bytes / 32,
    },
  ],
  [
    'escape characters only',
    {
      make: (bytes) => `${HEADER}\rOBX|1|TX|||${'\\'.repeat(bytes)}`,
      segments: one,
      value: (bytes) => bytes,
    },
  ],
  [
    'one long hexadecimal sequence',
    {
      make: (bytes) => `${HEADER}\rOBX|1|TX|||\\X${'41'.repeat(bytes / 2)}\\`,
      segments: one,
      value: (bytes) => bytes / 2,
    },
  ],
  ['repetitions only', { make: (bytes) => `${HEADER}\rOBX|1|TX|||${'~'.repeat(bytes)}x`, segments: one }],
];

describe.each(shapes)('a large message of %s', (_, shape) => {
  const [small, large] = [sampleOf(shape, MIB / 2), sampleOf(shape, 4 * MIB)];

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

interface Sample {
  text: string;
  segments: number;
  value: number | undefined;
}

function sampleOf({ make, segments, value }: Shape, bytes: number): Sample {
  return { text: make(bytes), segments: segments(bytes), value: value?.(bytes) };
}

function read({ text, segments, value }: Sample): void {
  const message = Hl7Message.parse(text);
  expect(message.segments).toHaveLength(1 + segments);
  expect(message.getAll('OBX.5')).toHaveLength(message.getAllSegments('OBX').length);
  expect(message.get('OBX.5')?.length).toBe(value);
  expect(message.toString()).toHaveLength(text.length);
}

function normaliseWhole({ text, segments }: Sample): void {
  expect(normalise(text).split('\r')).toHaveLength(segments + 2);
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
