import { parseReference } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';

/** Where a Bot's code lies: what the author wrote, and what a web editor made of it. */
export const codeElements = ['executableCode', 'sourceCode'] as const;

/** R4 Attachment, as far as it matters for code. */
export interface CodeAttachment {
  contentType?: unknown;
  url?: unknown;
  title?: unknown;
}

/** An element of a Bot that may be its code; without members when it has none. */
export function attachmentOf(bot: object | undefined, name: (typeof codeElements)[number]): CodeAttachment {
  return fieldsOf(fieldsOf(bot)[name]);
}

/** A Bot whose attachments name Binaries of this API as `Binary/<id>`, however the client wrote them. */
export function withOwnBinaries<T extends object>(bot: T, baseUrl: string): T {
  const own = codeElements.flatMap((name) => {
    const attachment = attachmentOf(bot, name);
    const id = binaryIdOf(attachment.url, baseUrl);
    return id === undefined ? [] : [[name, { ...attachment, url: `Binary/${id}` }] as const];
  });
  return { ...bot, ...Object.fromEntries(own) };
}

/** The id in `Binary/<id>` or `<base URL>/fhir/R4/Binary/<id>`; undefined for every other URL. */
export function binaryIdOf(url: unknown, baseUrl: string): string | undefined {
  if (typeof url !== 'string') return undefined;
  const prefix = `${baseUrl}/fhir/R4/`;
  const [path] = (url.startsWith(prefix) ? url.slice(prefix.length) : url).split('?', 1);
  const reference = parseReference(path);
  return reference?.type === 'Binary' ? reference.id : undefined;
}
