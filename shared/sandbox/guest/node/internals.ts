/**
 * What the modules of this folder have of the runtime script. They are scripts of their own, loaded when a Bot
 * asks for one: a Bot that does not pays nothing. What they export is what the Bot gets.
 */

import type { GuestBlob } from '../body.ts';
import type { GuestBuffer } from '../buffer/buffer.ts';
import type { Content } from '../content.ts';

export interface Internals {
  /** Waits for the host. */
  call: (operation: string, ...parts: string[]) => string | undefined;
  Buffer: typeof GuestBuffer;
  bytesOf: (input: ArrayBuffer | ArrayBufferView) => Uint8Array<ArrayBuffer>;
  latin1Bytes: (text: string) => Uint8Array<ArrayBuffer>;
  latin1Text: (bytes: Uint8Array) => string;
  utf8Bytes: (text: string) => Uint8Array<ArrayBuffer>;
  inspect: (value: unknown) => string;
  format: (parts: unknown[]) => string;
  Blob: typeof GuestBlob;
  blobBytes: (blob: GuestBlob) => Uint8Array<ArrayBuffer>;
  /** How bodies are made of a FormData, once there is such a class. */
  acceptFormData: (read: (body: object) => { content: Content; type: string } | undefined) => void;
}

/** A parameter of the function around each of these scripts: infra/guest/build.ts. */
declare const internalsOfPortico: Internals;

export const internals = internalsOfPortico;
