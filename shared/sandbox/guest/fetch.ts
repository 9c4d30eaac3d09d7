/** `fetch`: the request goes to the host as strings, and the host decides where it may go. */

import { base64Text } from './binary-text.ts';
import { contentOf, GuestRequest, GuestResponse, type RequestInit } from './body.ts';
import { type Content, wireContent } from './content.ts';
import type { GuestAbortSignal } from './events.ts';
import { call } from './host.ts';
import { parseJson, stringifyJson, text } from './primordials.ts';
import { GuestUrl } from './url.ts';

interface Waiting {
  resolve: (response: GuestResponse) => void;
  reject: (reason: unknown) => void;
}

const waiting = new Map<string, Waiting>();
let lastId = 0;

export async function guestFetch(input: unknown, init?: RequestInit): Promise<GuestResponse> {
  const request = new GuestRequest(input instanceof GuestUrl ? input.href : input, init ?? {});
  const signal = request.signal as GuestAbortSignal | null | undefined;
  signal?.throwIfAborted();
  lastId += 1;
  const id = text(lastId);
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    signal?.addEventListener(
      'abort',
      () => {
        waiting.delete(id);
        call('abort', id);
        reject(signal.reason);
      },
      { once: true },
    );
    const { url, method, redirect } = request;
    const head = stringifyJson({ url, method, redirect, headers: [...request.headers] });
    const [encoding, body] = wire(contentOf(request));
    const refused = call('fetch', id, head, encoding, body);
    if (refused !== undefined) {
      failed(id, refused);
    }
  });
}

/** The host's answer: `head` is JSON of url, status, statusText, headers and redirected. */
export function fetched(id: string, head: string, encoding: string, body: string): void {
  const { url, redirected, ...init } = parseJson(head);
  const response = new GuestResponse(undefined, init);
  const content = wireContent(encoding, body);
  const whole = withContent(response, content);
  Object.defineProperties(whole, {
    url: { value: url, enumerable: true },
    redirected: { value: redirected, enumerable: true },
    type: { value: 'basic', enumerable: true },
  });
  waiting.get(id)?.resolve(whole);
  waiting.delete(id);
}

/** A TypeError, as every fetch that gets no answer. */
export function failed(id: string, message: string): void {
  waiting.get(id)?.reject(new TypeError(message));
  waiting.delete(id);
}

function withContent(response: GuestResponse, content: Content): GuestResponse {
  const { status, statusText, headers } = response;
  const declared = headers.has('content-type');
  const whole = new GuestResponse('text' in content ? content.text : content.bytes, {
    status,
    statusText,
    headers,
  });
  if (!declared) {
    whole.headers.delete('content-type');
  }
  return whole;
}

function wire(content: Content | undefined): [encoding: string, body: string] {
  if (content === undefined) {
    return ['', ''];
  }
  return 'text' in content ? ['utf8', content.text.toWellFormed()] : ['base64', base64Text(content.bytes)];
}
