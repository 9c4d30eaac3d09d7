import { describe, expect, test } from '@jest/globals';
import { encodeFrame, isFramable } from '../../mllp/src/frames/encode-frame.ts';
import { type Frame, FrameDecoder } from '../../mllp/src/frames/frame-decoder.ts';
import fc from '../setup/fast-check.ts';

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
      { numRuns: 2000 },
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
      { numRuns: 5000 },
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

  test('over the limit is read to its end, its head kept, and the next frame is whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: longest, max: 40_000 }), cuts, (length, places) => {
        const long = Buffer.alloc(length, 'MSH|');
        const bytes = Buffer.concat([encodeFrame(long), encodeFrame(Buffer.from('next'))]);
        const [first, second] = decode(cut(bytes, places));
        expect(second).toEqual({ kind: 'message', bytes: Buffer.from('next\r') });
        const head = withEnd(long).subarray(0, longest);
        expect(first).toEqual({ kind: 'too-long', head, bytes: length + 1 });
      }),
    );
  });

  test('over the limit is not held', () => {
    const decoder = new FrameDecoder(100_000);
    decoder.push(Buffer.of(0x0b));
    for (let times = 0; times < 100; times++) {
      decoder.push(Buffer.alloc(60_000, 0x41));
      expect(decoder.next()).toBeUndefined();
      expect(decoder.heldBytes).toBeLessThanOrEqual(100_000);
    }
    expect(decoder.heldBytes).toBeLessThanOrEqual(16 * 1024);
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
