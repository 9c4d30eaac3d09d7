import { errorText } from '../../shared/error-name.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { typedKeys } from '../../shared/typed-keys.ts';
import { keyRules } from './key-rules.ts';
import type { Finding, Look } from './look.ts';
import type { Named, Rule } from './rule.ts';
import { botIsWhole, subscriptionIsListed } from './rules/bots.ts';
import { clientHasCredential, membershipStands } from './rules/people.ts';
import { contentAgrees, isIndexed } from './rules/resources.ts';

export type KeyPattern = keyof typeof keyRules;

const patterns = typedKeys(keyRules);

/** Which pattern a key has, and what it names; undefined for a key of none. */
export function classify({ pk, sk }: Key): { pattern: KeyPattern; named: Named } | undefined {
  for (const pattern of patterns) {
    const [ofPartition, ofSort] = [keyRules[pattern].pk.exec(pk), keyRules[pattern].sk.exec(sk)];
    if (!ofPartition || !ofSort) continue;
    const named = { ...ofPartition.groups, ...ofSort.groups } as Named;
    const isOfType = pattern !== 'resource' && pattern !== 'version';
    if (isOfType || isResourceType(named.type ?? '')) return { pattern, named };
  }
  return undefined;
}

/** What holds of resources of one type beside what holds of all. */
const ofType: Readonly<Record<string, readonly Rule[]>> = {
  ProjectMembership: [membershipStands],
  ClientApplication: [clientHasCredential],
  Bot: [botIsWhole],
  Subscription: [subscriptionIsListed],
};

/** All that is wrong with an item; what no longer is there, or has expired, is right. */
export async function checkItem(item: Item, look: Look): Promise<Finding[]> {
  const found = classify(item);
  if (!found) return [{ text: 'its key is of no known pattern' }];
  const { pattern, named } = found;
  const { project } = named;
  const head = project === undefined ? undefined : await look.get(keys.resource(project, 'Project', project));
  // It goes item by item, in no order that rules could know; the head of the Project goes last.
  if (head?.deletion === true) return [];
  const rules = rulesOf(pattern, named, item);
  const findings = await Promise.all(
    rules.map((rule) =>
      rule(item, named, look).catch((error: unknown) => [{ text: `it cannot be read: ${errorText(error)}` }]),
    ),
  );
  const staysForEver = keyRules[pattern].expires === true && item.ttl === undefined;
  return [
    ...findings.flat(),
    ...(staysForEver ? [{ text: 'it has no time to live' }] : []),
    // What belongs to a Project belongs to one that there is.
    ...(project === undefined || head ? [] : [{ text: `there is no Project ${project}` }]),
  ];
}

function rulesOf(pattern: KeyPattern, { type = '' }: Named, item: Item): readonly Rule[] {
  // Entries of earlier releases are resources like others but for their versions, and listed where entries now are.
  if (pattern === 'resource' && type === 'AuditEvent') return [contentAgrees, isIndexed];
  if (pattern === 'logEntry') return item.content === undefined ? [] : logRules;
  const more = pattern === 'resource' ? (ofType[type] ?? []) : [];
  return [...(keyRules[pattern].rules ?? []), ...more];
}

const logRules = [contentAgrees, isIndexed].map(
  (rule): Rule =>
    (item, named, look) =>
      rule(item, { ...named, type: 'AuditEvent' }, look),
);
