/** What a body holds, and how it crosses the border of the isolate. */

import { base64Bytes } from './binary-text.ts';
import { utf8Bytes, utf8Text } from './utf8.ts';

/** Text stays text as long as nobody asks for bytes: most bodies are never anything else. */
export type Content = { text: string } | { bytes: Uint8Array<ArrayBuffer> };

export function contentText(content: Content): string {
  const text = 'text' in content ? content.text : utf8Text(content.bytes);
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

export function contentBytes(content: Content): Uint8Array<ArrayBuffer> {
  return 'text' in content ? utf8Bytes(content.text) : content.bytes.slice();
}

/** A received body, as it crosses into the isolate. */
export function wireContent(encoding: string, text: string): Content {
  return encoding === 'base64' ? { bytes: base64Bytes(text) } : { text };
}
