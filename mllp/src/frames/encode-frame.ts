import { endOfBlock, startOfBlock } from './frame-decoder.ts';

const carriageReturn = 0x0d;

/** One message as an MLLP frame; the last segment gets its CR when it has none (HL7 v2.5.1 section 2.5.2). */
export function encodeFrame(message: Buffer): Buffer {
  const end = message.at(-1) === carriageReturn ? [] : [carriageReturn];
  return Buffer.concat([Buffer.of(startOfBlock), message, Buffer.of(...end, endOfBlock, carriageReturn)]);
}

/** Whether a content would be taken for the bounds of frames. */
export function isFramable(content: Buffer): boolean {
  return !content.includes(startOfBlock) && !content.includes(endOfBlock);
}
