import { Refusal } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import { judgeOf, tableToJudge, visible } from '../../identity/policies/access.ts';
import { requireOwnLogin } from '../../identity/sign-in/logins.ts';
import { bytesSeen, type OpenedResource, openState, readBytes } from '../../store/items/content.ts';
import { getVersion, standingState } from '../../store/items/versions.ts';

/** A resource as the caller may see it, digits kept, with the item that it was read from. */
export interface Read {
  resource: Resource;
  item: Item;
}

/**
 * Reads a resource as it stands, or one of its versions. Who may not see the resource as it stands learns
 * neither of its versions nor of its deletion.
 * @throws {Refusal} not-found, gone, forbidden
 */
export async function readResource(
  services: Services,
  caller: Caller,
  { type, id, versionId }: { type: string; id: string; versionId?: string },
): Promise<Read> {
  const { table } = services;
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');

  // It is of all Projects: an app or an issuer of one of them learns nothing of it.
  if (type === 'User') requireOwnLogin(actor.login);
  const interaction = versionId === undefined ? 'read' : 'vread';
  const judge = judgeOf(actor);
  const untold = type === 'User' ? table : tableToJudge(table, actor, interaction, [type]);
  // Every user may read the own User: no policy speaks of it.
  const see = (state: Resource, standing?: Resource) =>
    type === 'User' ? state : visible(judge, interaction, state, standing ? { standing } : {});
  const pay = (opened: OpenedResource, seen: Resource) => {
    if (untold !== table) table.budget.spend('bytes', bytesSeen(opened, seen));
  };
  const standing = await standingState(untold, head);
  const shown = standing && (await see(standing.resource));
  if (!standing || !shown) throw new Refusal('forbidden', 'Forbidden');
  pay(standing, shown);
  const item = versionId === undefined ? head : await getVersion(table, head, versionId);
  if (!item) throw new Refusal('not-found', 'Not found');
  if (item.deleted === true) throw new Refusal('gone', 'Gone');
  if (item === head) return { resource: shown, item };
  const version = await openState(untold, item);
  const resource = version && (await see(version.resource, standing.resource));
  if (!version || !resource) throw new Refusal('forbidden', 'Forbidden');
  pay(version, resource);
  return { resource, item };
}

/** Whether a list of entity tags, `W/"version"` or `*`, names the version (RFC 9110 section 8.8.3; the version alone too). */
export function namesVersion(tags: string, versionId: string): boolean {
  const wanted = tags.split(',').map((tag) => /^\s*(?:W\/)?"(.*)"\s*$/.exec(tag)?.[1] ?? tag.trim());
  return wanted.includes(versionId) || wanted.includes('*');
}

/** What a reader says of the state that they have (R4 http, conditional read); anything but text says nothing. */
export interface Had {
  ifNoneMatch?: unknown;
  ifModifiedSince?: unknown;
}

/** Whether the reader has this state already: the time counts where no version is named (RFC 9110 section 13.1.3). */
export function isHad({ meta }: Resource, { ifNoneMatch, ifModifiedSince }: Had): boolean {
  if (typeof ifNoneMatch === 'string') return namesVersion(ifNoneMatch, meta.versionId);
  if (typeof ifModifiedSince !== 'string') return false;
  // A header tells the second.
  return Math.floor(Date.parse(meta.lastUpdated) / 1000) * 1000 <= Date.parse(ifModifiedSince);
}

/** The head of a User is above Projects: only the User sees it. */
export function headKey(caller: Caller, type: string, id: string) {
  if (!isId(id)) return undefined;
  if (type !== 'User') return keys.resource(caller.project, type, id);
  if (caller.subject !== id) {
    throw new Refusal('forbidden', 'A User is seen by that user only; see admin/projects/<id>/members');
  }
  return keys.user(id);
}

/** A Binary with its bytes. */
export interface ReadBinary {
  resource: Resource;
  bytes: Buffer;
}

/** @throws {Refusal} not-found, gone, forbidden */
export async function readBinary(
  services: Services,
  caller: Caller,
  wanted: { id: string; versionId?: string },
): Promise<ReadBinary> {
  const { resource, item } = await readResource(services, caller, { type: 'Binary', ...wanted });
  return { resource, bytes: await readBytes(services.table, item) };
}

/** The resource as FHIR has it, its bytes in `data`. */
export function withData({ resource, bytes }: ReadBinary): Resource {
  return resource.data === undefined ? { ...resource, data: bytes.toString('base64') } : resource;
}
