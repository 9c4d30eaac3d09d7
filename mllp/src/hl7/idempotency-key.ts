import { createHash } from 'node:crypto';

/**
 * The `Idempotency-Key` of a message: its identity (MSH-3, 4, 7, 10) and its bytes, for one Bot and way of
 * running it. A sender's repeat is the same key; a control id that is used again for other content is not.
 * @param purpose the Bot, and whether somebody waits for it: the service takes these for other requests
 */
export function idempotencyKey(
  identity: readonly string[],
  content: Buffer,
  purpose: readonly string[],
): string {
  const hash = createHash('sha256').update(content).digest('hex');
  const all = JSON.stringify([...purpose, ...identity, hash]);
  return `hl7-${createHash('sha256').update(all).digest('hex')}`;
}
