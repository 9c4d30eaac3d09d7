/** The requests that a run waits for. Bounds what the host must hold of them, and how many it makes at once. */

import { longestBodyBytes } from '../../limits.ts';
import { mostFetchesAtOnce, type WireRequest } from '../protocol.ts';

const ALL_BYTES = 8 * 1024 * 1024;
const HEAD_CHARACTERS = 65_536;

export interface OpenFetches {
  /** Sends the request, now or in its turn; or why it may not be sent. Throws when `head` is no JSON. */
  open: (id: string, head: string, encoding: string, body: string) => string | undefined;
  /** It has its answer: another may take its place. */
  settled: (id: string) => void;
  /** Nobody waits for it any more. One that was not sent is forgotten, with all that it held. */
  abort: (id: string) => void;
}

export interface Sending {
  fetch: (id: string, request: WireRequest) => void;
  abort: (id: string) => void;
}

export function openFetches(supervisor: Sending): OpenFetches {
  const sizes = new Map<string, number>();
  const waiting = new Map<string, WireRequest>();
  const sent = new Set<string>();
  let held = 0;

  function sendNext() {
    const [next] = waiting;
    if (next === undefined || sent.size >= mostFetchesAtOnce) {
      return;
    }
    const [id, request] = next;
    waiting.delete(id);
    sent.add(id);
    supervisor.fetch(id, request);
  }

  function settled(id: string) {
    held -= sizes.get(id) ?? 0;
    sizes.delete(id);
    waiting.delete(id);
    sent.delete(id);
    sendNext();
  }

  return {
    open(id, head, encoding, body) {
      const bodyBytes = encoding === 'base64' ? (body.length * 3) / 4 : Buffer.byteLength(body);
      if (bodyBytes > longestBodyBytes || head.length > HEAD_CHARACTERS) {
        return 'The request is too large';
      }
      const size = bodyBytes + head.length;
      if (held + size > ALL_BYTES) {
        return 'Too much is being sent at once';
      }
      const request = JSON.parse(head) as WireRequest;
      sizes.set(id, size);
      held += size;
      waiting.set(
        id,
        encoding === ''
          ? request
          : { ...request, body: { encoding: encoding === 'base64' ? encoding : 'utf8', text: body } },
      );
      sendNext();
      return undefined;
    },
    settled,
    abort(id) {
      if (sent.has(id)) {
        supervisor.abort(id);
      }
      settled(id);
    },
  };
}
