/** What a Bot can be given. Anything else (a Map, a Promise, FormData) is refused, not lost. */
export type BotInput = unknown;

/** A body as it goes on the wire. Without a body there is no content type unless one was asked for. */
export interface RequestBody {
  body: string | Blob | Uint8Array<ArrayBuffer> | undefined;
  contentType: string | undefined;
}

/**
 * Encodes a Bot's input.
 *
 * | input | default type | body |
 * | --- | --- | --- |
 * | `undefined` | none | none |
 * | string | text/plain | the string; `""` of a JSON type is the JSON string `""` |
 * | URLSearchParams | application/x-www-form-urlencoded | the form |
 * | Blob | its own | its bytes |
 * | Uint8Array, ArrayBuffer, DataView | must be said | the bytes |
 * | object with `resourceType` | application/fhir+json | JSON |
 * | other JSON value, `0`, `false` and `null` too | application/json | JSON |
 *
 * @throws {TypeError} when the input cannot be sent as what it is
 */
export function requestBody(input: BotInput, contentType?: string): RequestBody {
  if (input === undefined) return { body: undefined, contentType };
  if (typeof input === 'string') return textBody(input, contentType ?? 'text/plain');
  if (input instanceof URLSearchParams)
    return textBody(String(input), contentType ?? 'application/x-www-form-urlencoded');
  if (input instanceof Blob) return { body: input, contentType: required(contentType || input.type) };
  if (ArrayBuffer.isView(input) || isArrayBuffer(input)) {
    return { body: bytesOf(input), contentType: required(contentType) };
  }
  return jsonBody(input, contentType);
}

/** Text is always sent as utf-8: a type that says otherwise would have the service misread it. */
function textBody(body: string, contentType: string): RequestBody {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new TypeError(`A string is sent as utf-8; give bytes for ${charset}`);
  }
  if (body === '' && isJson(contentType)) return { body: '""', contentType };
  // Without a charset the service reads HL7 as MSH-18 says, which is about the bytes that a sender had.
  const isBareHl7 = charset === undefined && mediaType(contentType) === 'x-application/hl7-v2+er7';
  return { body, contentType: isBareHl7 ? `${contentType}; charset=utf-8` : contentType };
}

function jsonBody(input: unknown, asked?: string): RequestBody {
  const contentType = asked ?? (isResource(input) ? 'application/fhir+json' : 'application/json');
  if (!isJson(contentType)) {
    throw new TypeError(`${contentType} wants a string, URLSearchParams, a Blob or bytes`);
  }
  const body = isJsonValue(input) ? JSON.stringify(input) : undefined;
  if (body === undefined) {
    throw new TypeError(`${Object.prototype.toString.call(input)} has no JSON form`);
  }
  return { body, contentType };
}

function isJsonValue(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return true;
  // Maps, Promises, FormData and their like have a tag of their own and would all become `{}`.
  return 'toJSON' in input || Object.prototype.toString.call(input) === '[object Object]';
}

function isResource(input: unknown): boolean {
  return (
    typeof input === 'object' &&
    input !== null &&
    'resourceType' in input &&
    typeof input.resourceType === 'string'
  );
}

/** Other realms have an ArrayBuffer of their own, which `instanceof` does not know. */
function isArrayBuffer(input: unknown): input is ArrayBuffer {
  return Object.prototype.toString.call(input) === '[object ArrayBuffer]';
}

/** A copy, so that a change of the caller's buffer while a token is fetched changes nothing. */
function bytesOf(input: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const view = ArrayBuffer.isView(input)
    ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
    : new Uint8Array(input);
  return new Uint8Array(view);
}

function required(contentType: string | undefined): string {
  if (contentType) return contentType;
  throw new TypeError('Bytes need a content type');
}

export function isJson(contentType: string): boolean {
  return /^application\/([\w.-]+\+)?json$/.test(mediaType(contentType));
}

/** Lower-case and without parameters. */
export function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
