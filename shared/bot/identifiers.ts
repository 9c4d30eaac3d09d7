import {
  array,
  check,
  looseObject,
  maxLength,
  minLength,
  optional,
  pipe,
  string,
  transform,
  union,
} from 'valibot';
import { parse } from '../schema/check.ts';
import { fields, optional as orNothing } from '../schema/fields.ts';
import { whole } from '../schema/values.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

/** A Bot's identifier; without `system` it is found as `|value`. */
export interface Identifier {
  system?: string | undefined;
  value: string;
}

const mostIdentifiers = 10;
const longestPart = 1000;

const part = pipe(string(), maxLength(longestPart));
const identifier = looseObject({
  system: optional(
    pipe(
      part,
      check((system) => !system.includes('|')),
    ),
  ),
  value: pipe(part, minLength(1)),
});

/** `Bot.identifier`: one or an array, each unique. Other elements of an Identifier are kept. */
export const identifiers = whole(
  pipe(
    union([
      pipe(
        identifier,
        transform((one) => [one]),
      ),
      pipe(array(identifier), maxLength(mostIdentifiers)),
    ]),
    check((list) => new Set(list.map(nameOf)).size === list.length),
  ),
  `identifier must be up to ${mostIdentifiers} different Identifiers, each with a value, and with a URI as system if any`,
);

/** @throws {Refusal} invalid */
export function identifiersOf({ identifier }: Readonly<Record<string, unknown>>): Identifier[] {
  return parse(fields({ identifier: orNothing(identifiers) }), { identifier }).identifier ?? [];
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
