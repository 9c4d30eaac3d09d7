import { isAdministrative } from '../fhir/administrative.ts';
import { parseReference, type Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { invalidField } from '../refusal.ts';
import { type Owner, openState } from '../store/content.ts';
import { isStanding } from '../store/inline.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import { attachmentOf, binaryIdOf, codeElements } from './attachments.ts';

/** Whose Binaries, and under which URL clients name them. */
interface Place extends Owner {
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
  const binary = (await openState(owner, head))?.resource;
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
function isAdministratorsOwn({ securityContext }: Resource): boolean {
  const { reference } = fieldsOf(securityContext);
  const context = parseReference(reference);
  return context !== undefined && isAdministrative(context.type);
}
