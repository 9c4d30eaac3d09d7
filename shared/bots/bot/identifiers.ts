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
import { Refusal } from '../../base/refusal.ts';
import { fields, optionalField as orNothing, parse, whole } from '../../base/schema.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { withoutEmpty } from '../../store/fhir/fields.ts';

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
    check((list) => list.every((one) => withoutEmpty(one) === one)),
  ),
  `identifier must be up to ${mostIdentifiers} different Identifiers, each with a value, and with a URI as system if any`,
);

/** @throws {Refusal} invalid */
export function identifiersOf({ identifier }: Readonly<Record<string, unknown>>): Identifier[] {
  return parse(fields({ identifier: orNothing(identifiers) }), { identifier }).identifier ?? [];
}

/** Another Bot's identifier stays another Bot's. Where the Bot changed as well, it may be its own by now. @throws {Refusal} conflict */
export function refuseTaken(failed: ReadonlySet<string>): void {
  if (failed.size > 1 || !failed.has('identifier')) return;
  throw new Refusal('conflict', 'A Bot with this identifier already exists in this project');
}

/**
 * Locks make identifiers unique inside the Project and lead to the Bot: those of identifiers that it has no more, and of
 * those it has newly.
 */
export function moveIdentifierActions(
  project: string,
  botId: string,
  before: readonly Identifier[],
  after: readonly Identifier[],
): Action[] {
  const kept = new Set(after.map(nameOf));
  const had = new Set(before.map(nameOf));
  const given = before.filter((one) => !kept.has(nameOf(one)));
  const taken = after.filter((one) => !had.has(nameOf(one)));
  const keyOf = ({ system, value }: Identifier) => keys.botIdentifier(project, system ?? '', value);
  return [
    ...given.map((one) => ({ name: 'identifier given up', remove: keyOf(one) })),
    ...taken.map((one) => ({
      name: 'identifier',
      put: { ...keyOf(one), botId },
      if: 'attribute_not_exists(pk)',
    })),
  ];
}

function nameOf({ system, value }: Identifier): string {
  return JSON.stringify([system ?? '', value]);
}

/**
 * `identifier=<system>|<value>`, split at the first `|`; an empty system matches an identifier
 * without one.
 * @throws {Refusal} invalid when it is missing, empty, given twice, or has no `|`
 */
export function parseBotIdentifier(query: URLSearchParams): { system: string; value: string } {
  const [text, ...more] = query.getAll('identifier');
  if (!text || more.length > 0) throw new Refusal('invalid', 'Must specify bot ID or identifier.');
  const bar = text.indexOf('|');
  if (bar < 0) throw new Refusal('invalid', 'The identifier must be <system>|<value>.');
  const value = text.slice(bar + 1);
  if (value === '') throw new Refusal('invalid', 'The identifier has no value.');
  return { system: text.slice(0, bar), value };
}
