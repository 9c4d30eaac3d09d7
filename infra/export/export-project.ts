import { codeOf } from '../../shared/bot/bot-item.ts';
import { stringifyJson } from '../../shared/fhir/json.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import { readBytes } from '../../shared/store/binary-content.ts';
import { openState } from '../../shared/store/content.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { MissingPart } from '../../shared/store/packing.ts';
import { listVersions } from '../../shared/store/versions.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys, parseHead } from '../../shared/table/keys.ts';
import type { ScanFilter, ScannedPage } from '../../shared/table/scan-page.ts';
import type { Table } from '../../shared/table/table.ts';

/** A line of NDJSON, and the file that it belongs to. */
export interface Line {
  file: string;
  text: string;
}

interface Exported {
  table: Table;
  scan(from: Key | undefined, filter: ScanFilter): Promise<ScannedPage>;
  project: string;
}

/**
 * All of a Project that is its own to take along, a page of the table at a time: `<Type>` each resource as it stands,
 * Binaries with their bytes, `<Type>.history` the versions before and those of deleted ones, `BotCode` every version of
 * a Bot's code, `User` the people of its memberships. No secret, no hash, nothing of other Projects.
 */
export async function* exportProject({ table, scan, project }: Exported): AsyncGenerator<Line[]> {
  const owner = { table, project };
  const users = new Set<string>();
  for (let from: Key | undefined; ; ) {
    const page = await scan(from, {
      FilterExpression: 'begins_with(pk, :own)',
      ExpressionAttributeValues: { ':own': `P#${project}#` },
    });
    for (const item of page.items) {
      const lines = await linesOf(owner, item);
      for (const { resource } of lines) if (resource) for (const id of userOf(resource)) users.add(id);
      if (lines.length > 0) yield lines.map(({ file, text }) => ({ file, text }));
    }
    from = page.next;
    if (!from) break;
  }
  yield* userLines(table, [...users].sort());
}

interface Owner {
  table: Table;
  project: string;
}

type OwnLine = Line & { resource?: Resource };

async function linesOf(owner: Owner, item: Item): Promise<OwnLine[]> {
  const target = parseHead(item);
  if (target && isResourceType(target.type)) return stateLines(owner, target, item);
  if (!item.pk.startsWith(`P#${owner.project}#Bot#`) || !item.sk.startsWith('CODE#')) return [];
  const { version, filename, text: code } = codeOf(item);
  const bot = { reference: `Bot/${item.pk.split('#')[3]}` };
  return [{ file: 'BotCode', text: JSON.stringify({ bot, version, filename, code }) }];
}

async function stateLines(
  owner: Owner,
  target: { type: string; id: string },
  seen: Item,
): Promise<OwnLine[]> {
  const { type, id } = target;
  const { table, project } = owner;
  const lines: OwnLine[] = [];
  // It may be written at this moment: the parts of what was seen may be those of a version that is gone.
  const [head, current] = await stateOf(owner, seen).then(
    (resource) => [seen, resource] as const,
    async (error) => {
      if (!(error instanceof MissingPart)) throw error;
      const again = (await table.read([seen])).get(seen) ?? { ...seen, deleted: true };
      return [again, await stateOf(owner, again)] as const;
    },
  );
  if (current) lines.push({ file: type, text: stringifyJson(current), resource: current });
  if (type === 'AuditEvent') return lines;
  const expected = String(head.versionId);
  for await (const { item } of listVersions(table, { project, type, id }, { expected })) {
    if (current && item.versionId === head.versionId) continue;
    const resource = await stateOf(owner, item);
    if (resource) lines.push({ file: `${type}.history`, text: stringifyJson(resource) });
  }
  return lines;
}

async function stateOf(owner: Owner, item: Item): Promise<Resource | undefined> {
  const opened = await openState(owner, item);
  if (!opened) return undefined;
  const { resource } = opened;
  if (resource.resourceType !== 'Binary' || resource.data !== undefined) return resource;
  const bytes = await readBytes(owner.table, owner.project, resource.id, item);
  return { ...resource, data: bytes.toString('base64') };
}

function userOf({ resourceType, user }: Resource): string[] {
  const { reference } = (user ?? {}) as { reference?: string };
  const isPerson = resourceType === 'ProjectMembership' && reference?.startsWith('User/');
  return isPerson && reference ? [reference.slice('User/'.length)] : [];
}

async function* userLines(table: Table, ids: readonly string[]): AsyncGenerator<Line[]> {
  for (let at = 0; at < ids.length; at += 100) {
    const wanted = ids.slice(at, at + 100).map((id) => keys.user(id));
    const found = await table.read(wanted);
    const users = wanted.flatMap((key) => inlineResource('User', found.get(key)) ?? []);
    yield users.map((user) => ({ file: 'User', text: stringifyJson(user) }));
  }
}
