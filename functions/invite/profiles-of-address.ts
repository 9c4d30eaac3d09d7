import { domainToUnicode } from 'node:url';
import { normaliseAddress } from '../../shared/email/address.ts';
import type { ProfileType } from '../../shared/fhir/resource.ts';
import { indexPartition } from '../../shared/index/partition.ts';
import { indexedId } from '../../shared/index/places.ts';
import { parametersOf } from '../../shared/index/registry.ts';
import { tokenSpans, tokensOf } from '../../shared/index/token.ts';
import { valuesOf } from '../../shared/index/value.ts';
import { openState } from '../../shared/store/content.ts';
import { readHeads } from '../../shared/store/heads.ts';
import type { Item } from '../../shared/table/item.ts';
import type { Table } from '../../shared/table/table.ts';

/** Profiles of one type in one Project, by an e-mail address in them. */
interface Wanted {
  project: string;
  type: ProfileType;
  /** Normalised. */
  email: string;
}

/** So many are looked at: a Project may have written one address into any number of records. */
const mostProfiles = 500;
const batch = 25;
/** So many are listed. */
const mostListed = 10;

/**
 * The ids that the index has under the address, as one Query; two where the domain may be written in letters
 * beyond ASCII. Whether they still have it, the head says.
 */
export async function indexedProfiles(
  table: Table,
  { project, type, email }: Wanted,
): Promise<readonly string[]> {
  const { index } = emailOf(type);
  const spans = tokenSpans(writtenForms(email).map((value) => ({ system: undefined, value }))) ?? [];
  const pages = await Promise.all(
    spans.map(({ bucket }) =>
      table.query({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': indexPartition(project, type, index, bucket).pk },
        Limit: mostProfiles,
      }),
    ),
  );
  return [...new Set(pages.flatMap(({ items }) => items.map(({ sk }) => indexedId(sk))))];
}

/** A normalised address as records may have it: with the domain as it is sent, or as it is read (IDNA). */
function writtenForms(email: string): string[] {
  const at = email.lastIndexOf('@') + 1;
  return [...new Set([email, email.slice(0, at) + domainToUnicode(email.slice(at))])];
}

/** References of those that have the address and are used by no membership. */
export async function unboundProfiles(
  table: Table,
  { project, type, email }: Wanted,
  ids: readonly string[],
): Promise<string[]> {
  const owner = { table, project };
  const { parameter } = emailOf(type);
  const hasAddress = async (head: Item) => {
    const opened = await openState(owner, head);
    const tokens = opened ? valuesOf(opened.resource, parameter).flatMap(tokensOf) : [];
    return tokens.some(({ value }) => value !== undefined && normaliseAddress(value) === email);
  };
  const found: string[] = [];
  for (let i = 0; i < ids.length && found.length < mostListed; i += batch) {
    for (const [id, head] of await readHeads(owner, type, ids.slice(i, i + batch))) {
      if (Number(head.refs ?? 0) === 0 && (await hasAddress(head))) found.push(`${type}/${id}`);
    }
  }
  return found.slice(0, mostListed);
}

/** R4's search parameter `email`, which every type of profile has. */
function emailOf(type: ProfileType) {
  const parameter = parametersOf(type).get('email');
  if (parameter?.index === undefined) throw new Error(`${type} is not indexed by e-mail`);
  return { parameter, index: parameter.index };
}
