/** The requests that a run waits for. Bounds what the host must hold of them at once. */

import type { WireBody, WireRequest } from '../protocol.ts';

const REQUEST_BYTES = 4 * 1024 * 1024;
const ALL_BYTES = 8 * 1024 * 1024;
const HEAD_CHARACTERS = 65_536;

export interface OpenFetches {
  /** The request to send, or why it may not be sent. Throws when `head` is no JSON. */
  open: (id: string, head: string, encoding: string, body: string) => WireRequest | string;
  settled: (id: string) => void;
}

export function openFetches(): OpenFetches {
  const sizes = new Map<string, number>();
  let held = 0;
  return {
    open(id, head, encoding, body) {
      const size = encoding === 'base64' ? (body.length * 3) / 4 : Buffer.byteLength(body);
      if (size > REQUEST_BYTES || head.length > HEAD_CHARACTERS) {
        return 'The request is too large';
      }
      if (held + size > ALL_BYTES) {
        return 'Too much is being sent at once';
      }
      sizes.set(id, size);
      held += size;
      const request = JSON.parse(head) as WireRequest;
      return encoding === '' ? request : { ...request, body: { encoding, text: body } as WireBody };
    },
    settled(id) {
      held -= sizes.get(id) ?? 0;
      sizes.delete(id);
    },
  };
}
