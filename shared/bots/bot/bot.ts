import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { boolean, exactOptional, object, optional, picklist, string } from 'valibot';
import { invalidField } from '../../base/refusal.ts';
import { isAdministrative, parseReference, type Resource } from '../../base/resource.ts';
import { bytes, stored } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { inlineResource, isStanding, openState, type ProjectTable } from '../../store/items/content.ts';
import type { BotCode } from '../run/contract.ts';

/** A Bot's head: the resource, its membership, and the pointer to the deployed code. */
export interface StoredBot {
  resource: Resource;
  membershipId: string;
  /** Hash of the deployed code; undefined before the first deploy. */
  codeVersion: string | undefined;
  /** A policy narrowed who deployed it: it is not given the Project's secrets. */
  isNarrowed?: boolean | undefined;
  /** When it was deployed last, and by which membership. */
  deployed?: { at: string; membershipId?: string | undefined } | undefined;
}

/** One immutable version. */
export interface DeployedCode extends BotCode {
  /** Lines are not the author's: a source map lies beside it. */
  isMapped: boolean;
}

const readHead = stored(
  'Bot',
  object({
    membershipId: string(),
    codeVersion: optional(string()),
    isNarrowed: optional(boolean()),
    deployed: optional(object({ at: string(), membershipId: optional(string()) })),
  }),
);

const readCode = stored(
  'code of a Bot',
  object({
    version: string(),
    format: picklist(['esm', 'cjs'] satisfies BotCode['format'][]),
    filename: string(),
    text: bytes,
    isMapped: exactOptional(boolean()),
  }),
);

export function botOf(item: Item | undefined): StoredBot | undefined {
  const resource = inlineResource('Bot', item);
  if (!item || !resource) return undefined;
  const { membershipId, codeVersion, isNarrowed, deployed } = readHead(item);
  return { resource, membershipId, codeVersion, isNarrowed, deployed };
}

/** SPEC: one item, one read. */
export const longestCodeBytes = 350 * 1024;

/** One immutable version of a Bot's code. */
export function codeItem(project: string, botId: string, code: DeployedCode): Item & { text: Uint8Array } {
  const { version, format, filename, text, isMapped } = code;
  const item = { ...keys.botCode(project, botId, version), version, format, filename };
  return { ...item, text: deflateRawSync(text), ...(isMapped ? { isMapped } : {}) };
}

export function codeOf(item: Item): DeployedCode {
  const { version, format, filename, text, isMapped = false } = readCode(item);
  return { version, format, filename, text: inflateRawSync(text).toString('utf8'), isMapped };
}

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
function binaryIdOf(url: unknown, baseUrl: string): string | undefined {
  if (typeof url !== 'string') return undefined;
  const prefix = `${baseUrl}/fhir/R4/`;
  const [path] = (url.startsWith(prefix) ? url.slice(prefix.length) : url).split('?', 1);
  const reference = parseReference(path);
  return reference?.type === 'Binary' ? reference.id : undefined;
}

interface Place extends ProjectTable {
  baseUrl: string;
}

/**
 * The Binary that holds a Bot's code. Who may write it chooses what the Bot does with its rights, so it
 * must be one that only administrators write.
 * @param name the element of the Bot that names it
 * @returns its id and head; undefined when the attachment names no Binary that stands in the Project
 * @throws {Refusal} invalid when others may write it
 */
export async function sourceBinary(
  owner: Place,
  bot: Resource,
  name: (typeof codeElements)[number],
): Promise<{ id: string; head: Item } | undefined> {
  const id = binaryIdOf(attachmentOf(bot, name).url, owner.baseUrl);
  if (id === undefined) return undefined;
  const key = keys.resource(owner.project, 'Binary', id);
  const head = (await owner.table.read([key])).get(key);
  if (!isStanding(head)) return undefined;
  const binary = (await openState(owner.table, head))?.resource;
  if (binary && isAdministratorsOwn(binary)) return { id, head };
  throw invalidField(
    name,
    `Others than administrators may write Binary/${id}: give it the securityContext of the Bot or of the Project`,
  );
}

/** What a Bot is changed to name as its code. @throws {Refusal} invalid when others may write it */
export async function requireOwnSources(
  owner: Place,
  before: Resource | undefined,
  after: Resource,
): Promise<void> {
  for (const name of codeElements) {
    if (attachmentOf(after, name).url !== attachmentOf(before, name).url)
      await sourceBinary(owner, after, name);
  }
}

/** R4 Binary.securityContext: who may update that resource may write the Binary. */
export function isAdministratorsOwn({ securityContext }: Resource): boolean {
  const { reference } = fieldsOf(securityContext);
  const context = parseReference(reference);
  return context !== undefined && isAdministrative(context.type);
}
