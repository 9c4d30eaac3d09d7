import type { RefusalIssue } from '../refusal.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

/** A Bot's identifier; without `system` it is found as `|value`. */
export interface Identifier {
  system?: string;
  value: string;
}

const mostIdentifiers = 10;
const longestPart = 1000;

/** `Bot.identifier`: one or an array, each unique. Other elements of an Identifier are kept. */
export function parseIdentifiers(value: unknown): { identifiers: Identifier[]; issues: RefusalIssue[] } {
  if (value == null) return { identifiers: [], issues: [] };
  const list = Array.isArray(value) ? value : [value];
  const issues: RefusalIssue[] = [];
  if (list.length > mostIdentifiers) issues.push(wrong(`A Bot has at most ${mostIdentifiers} identifiers`));
  for (const one of list) {
    const { system, value: code } = (typeof one === 'object' && one !== null ? one : {}) as Record<
      string,
      unknown
    >;
    if (typeof code !== 'string' || code === '' || code.length > longestPart)
      issues.push(wrong('An identifier needs a value'));
    if (
      system !== undefined &&
      (typeof system !== 'string' || system.length > longestPart || system.includes('|'))
    ) {
      issues.push(wrong('The system of an identifier must be a URI'));
    }
  }
  const identifiers = list as Identifier[];
  if (issues.length === 0 && new Set(identifiers.map(nameOf)).size < identifiers.length) {
    issues.push(wrong('The identifiers of a Bot must differ'));
  }
  return { identifiers, issues };
}

/** Locks that make identifiers unique inside the Project and lead to the Bot. */
export function identifierActions(
  project: string,
  botId: string,
  identifiers: readonly Identifier[],
): Action[] {
  return identifiers.map(({ system, value }) => ({
    name: 'identifier',
    put: { ...keys.botIdentifier(project, system ?? '', value), botId },
    if: 'attribute_not_exists(pk)',
  }));
}

/** The locks of identifiers that a Bot has no more, and of those it has newly. */
export function moveIdentifierActions(
  project: string,
  botId: string,
  before: readonly Identifier[],
  after: readonly Identifier[],
): Action[] {
  const kept = new Set(after.map(nameOf));
  const had = new Set(before.map(nameOf));
  const given = before.filter((one) => !kept.has(nameOf(one)));
  return [
    ...given.map(({ system, value }) => ({
      name: 'identifier given up',
      remove: keys.botIdentifier(project, system ?? '', value),
    })),
    ...identifierActions(
      project,
      botId,
      after.filter((one) => !had.has(nameOf(one))),
    ),
  ];
}

function nameOf({ system, value }: Identifier): string {
  return JSON.stringify([system ?? '', value]);
}

function wrong(text: string): RefusalIssue {
  return { expression: 'identifier', text };
}
