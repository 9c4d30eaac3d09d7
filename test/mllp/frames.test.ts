import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import { encodeFrame, type Frame, FrameDecoder, isFramable } from '../../mllp/src/frames.ts';
import { newMetrics } from '../../mllp/src/observe.ts';
import { answerFrames } from '../../mllp/src/receive/answer-frames.ts';
import { LargeFrames } from '../../mllp/src/receive/receiver.ts';
import { Gate } from '../../shared/base/gate.ts';
import fc from '../setup/fast-check.ts';
import { casesOf } from '../setup/long.ts';
import { messageOf } from './sender.ts';

const longest = 1000;

/** Pushes the pieces one after the other and takes every frame as soon as it is there. */
function decode(pieces: readonly Buffer[], mostBytes = longest): Frame[] {
  const decoder = new FrameDecoder(mostBytes);
  const frames: Frame[] = [];
  for (const piece of pieces) {
    decoder.push(piece);
    for (let frame = decoder.next(); frame; frame = decoder.next()) {
      frames.push(frame);
      if (frame.kind === 'malformed') return frames;
    }
  }
  return frames;
}

/** The same bytes, cut at the places that are given. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const bounds = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return bounds.slice(1).map((end, at) => bytes.subarray(bounds[at], end));
}

const content = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0b && byte !== 0x1c)));
const cuts = fc.array(fc.nat(), { maxLength: 40 });
const padding = fc.array(fc.constantFrom(0x0d, 0x0a), { maxLength: 3 });
/** As a sender that adds its CR to the last segment and, between frames, whatever line ends it likes. */
const stream = fc.array(fc.tuple(content, padding), { maxLength: 8 });

const messages = (contents: readonly Buffer[]) =>
  contents.map((bytes) => ({ kind: 'message', bytes: Buffer.from(withEnd(bytes)) }));
const withEnd = (bytes: Buffer) => (bytes.at(-1) === 0x0d ? bytes : Buffer.concat([bytes, Buffer.of(0x0d)]));
const wire = (parts: readonly (readonly [Buffer, number[]])[]) =>
  Buffer.concat(parts.flatMap(([bytes, after]) => [encodeFrame(bytes), Buffer.from(after)]));

describe('any stream of frames', () => {
  test('gives the same messages however it is cut', () => {
    fc.assert(
      fc.property(stream, cuts, (parts, places) => {
        const expected = messages(parts.map(([bytes]) => bytes));
        expect(decode(cut(wire(parts), places))).toEqual(expected);
      }),
      { numRuns: casesOf(2000) },
    );
  });

  test('gives the same messages byte by byte, and all at once', () => {
    fc.assert(
      fc.property(stream, (parts) => {
        const bytes = wire(parts);
        const single = Array.from(bytes, (byte) => Buffer.of(byte));
        expect(decode(single)).toEqual(decode([bytes]));
      }),
    );
  });

  test('with any bytes in it is understood the same however it is cut, and never throws', () => {
    const noise = fc.array(
      fc.oneof(fc.constantFrom(0x0b, 0x1c, 0x0d, 0x0a, 0x41), fc.integer({ min: 0, max: 255 })),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(noise, cuts, (bytes, places) => {
        const whole = Buffer.from(bytes);
        expect(decode(cut(whole, places), 20)).toEqual(decode([whole], 20));
      }),
      { numRuns: casesOf(5000) },
    );
  });

  test('is passed over at the price of its length, in single bytes too', () => {
    const bytes = encodeFrame(Buffer.alloc(400_000, 0x41));
    const beganAt = performance.now();
    const [frame] = decode(
      Array.from(bytes, (byte) => Buffer.of(byte)),
      4_000_000,
    );
    expect(frame).toMatchObject({ kind: 'message' });
    // A decoder that copies what it holds at every piece would take minutes.
    expect(performance.now() - beganAt).toBeLessThan(20_000);
  });
});

describe('a content', () => {
  test.each([longest - 1, longest])('of %i bytes is whole', (length) => {
    const frames = decode([encodeFrame(Buffer.alloc(length - 1, 0x41))]);
    expect(frames).toEqual([expect.objectContaining({ kind: 'message' })]);
  });

  test('over the limit is given as soon as it is, its head kept, the rest passed over, and the next frame is whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: longest, max: 3_900 }), cuts, (length, places) => {
        const long = Buffer.alloc(length, 'MSH|');
        const bytes = Buffer.concat([encodeFrame(long), encodeFrame(Buffer.from('next'))]);
        const [first, second] = decode(cut(bytes, places));
        expect(second).toEqual({ kind: 'message', bytes: Buffer.from('next\r') });
        const head = withEnd(long).subarray(0, longest);
        expect(first).toEqual({ kind: 'too-long', head, bytes: expect.any(Number) });
        const { bytes: seen } = first as Frame & { kind: 'too-long' };
        expect(seen).toBeGreaterThan(longest);
        expect(seen).toBeLessThanOrEqual(length + 1);
      }),
    );
  });

  test('over the limit is not held, and is malformed where its end does not come', () => {
    const decoder = new FrameDecoder(100_000);
    decoder.push(Buffer.of(0x0b));
    const came: (string | undefined)[] = [];
    for (let times = 0; times < 7; times++) {
      decoder.push(Buffer.alloc(60_000, 0x41));
      came.push(decoder.next()?.kind);
      expect(decoder.heldBytes).toBeLessThanOrEqual(100_000);
      if (times > 0) expect(decoder.heldBytes).toBe(0);
      expect(decoder.cameBytes).toBe((times + 1) * 60_000);
    }
    expect(came).toEqual([undefined, 'too-long', ...Array(4).fill(undefined), 'malformed']);
    expect(decoder.next()).toEqual({ kind: 'malformed', reason: 'a frame without an end' });
  });

  test('that holds a byte of the frame cannot be sent', () => {
    expect(isFramable(Buffer.from('MSH|\r'))).toBe(true);
    expect([0x0b, 0x1c].map((byte) => isFramable(Buffer.of(0x41, byte, 0x41)))).toEqual([false, false]);
  });
});

describe('what is no frame', () => {
  test.each<[string, string]>([
    ['MSH|', 'bytes outside a frame'],
    ['GET / HTTP/1.1\r\n\r\n', 'bytes outside a frame'],
    ['\x16\x03\x01', 'bytes outside a frame'],
    ['\r\n x', 'bytes outside a frame'],
    ['\x0bMSH|\x0bMSH|', 'a frame inside a frame'],
    ['\x0bMSH|\x1c\x0bMSH|', 'the end of a block without carriage return'],
    ['\x0bMSH|\x1c\n', 'the end of a block without carriage return'],
    ['\x0bMSH|\x1cMSH|', 'the end of a block without carriage return'],
  ])('%j is malformed, for good', (text, reason) => {
    const decoder = new FrameDecoder(longest);
    decoder.push(Buffer.from(text));
    expect(decoder.next()).toEqual({ kind: 'malformed', reason });
    decoder.push(encodeFrame(Buffer.from('MSH|')));
    expect(decoder.next()).toEqual({ kind: 'malformed', reason });
  });

  test('a frame before it is still given', () => {
    const frames = decode([Buffer.concat([encodeFrame(Buffer.from('MSH|')), Buffer.from('x')])]);
    expect(frames.map(({ kind }) => kind)).toEqual(['message', 'malformed']);
  });
});

describe('a connection', () => {
  /** What runs of three messages, and the codes of the acknowledgements, of which the n-th is not taken. */
  async function answered(nth: number, fields: Record<number, string>) {
    const runs: string[] = [];
    const codes: string[] = [];
    const run = ({ content: bytes }: { content: Buffer }) =>
      void runs.push(bytes.toString().split('|')[9] ?? '');
    const ack = Buffer.from('MSH|^~\\&|R|||||2026||ACK|a|P|2.5.1\rMSA|AA|x\r');
    const never = new AbortController().signal;
    const socket = new PassThrough();
    const end = await answerFrames(
      {
        service: {
          execute: async (execution) => {
            run(execution);
            return { contentType: 'x-application/hl7-v2+er7', body: ack };
          },
          accept: async (execution) => {
            run(execution);
            return 'job';
          },
          readJob: async () => ({
            status: 'completed',
            output: { parameter: [{ valueString: String(ack) }] },
          }),
        },
        ...{ log: () => undefined, metrics: newMetrics(), timeoutMs: 10_000 },
        ...{ peerShare: 100, largeFrames: new LargeFrames(new Gate(1)), stopping: never },
      },
      socket.end(
        Buffer.concat(['1', '2', '3'].map((id) => encodeFrame(Buffer.from(messageOf(id, fields))))),
      ) as unknown as Socket,
      {
        settings: {
          ...{ address: { host: '', port: 0 }, bot: 'bot', allows: undefined, tls: undefined },
          ...{ acknowledge: 'as-asked', idleMs: 10_000, mostConnections: 1 },
        },
        ...{ listener: '', peer: '', number: 1, gone: never, over: never },
        reply: async (bytes) => {
          codes.push(/MSA\|(\w+)/.exec(String(bytes))?.[1] ?? '');
          return codes.length !== nth;
        },
      },
    );
    return { end, runs: runs.join(' '), codes: codes.join(' ') };
  }

  const [original, accepted] = [{}, { 15: 'AL', 16: 'AL' }];
  test.each([
    [original, 0, '1 2 3', 'AA AA AA'],
    [original, 2, '1 2', 'AA AA'],
    [accepted, 0, '1 2 3', 'CA AA CA AA CA AA'],
    [accepted, 1, '1', 'CA AA'],
    [accepted, 2, '1', 'CA AA'],
    [accepted, 3, '1 2', 'CA AA CA AA'],
  ])(
    'that asks with %j runs nothing after acknowledgement number %i, which is not taken',
    async (fields, nth, runs, codes) => {
      const end = nth === 0 ? 'end' : 'acknowledgement not taken';
      expect(await answered(nth, fields)).toEqual({ end, runs, codes });
    },
  );
});

test('a frame that pauses for less than two seconds keeps its place, though another one waits', async () => {
  jest.useFakeTimers();
  try {
    const places = new LargeFrames(new Gate(1));
    const never = new AbortController().signal;
    const cutOff = jest.fn();
    const leave = await places.enter('pausing', { bytes: () => 100_000, cutOff }, never);
    const waiting = places.enter('waiting', { bytes: () => 0, cutOff: () => undefined }, never);
    await jest.advanceTimersByTimeAsync(1_900);
    expect(cutOff).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(600);
    expect(cutOff).toHaveBeenCalled();
    leave();
    (await waiting)();
  } finally {
    jest.useRealTimers();
  }
});
