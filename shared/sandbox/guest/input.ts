/** `event.input`, made inside the isolate from the text that the caller sent. */

import type { RunInput } from '../../bot/contract.ts';
import { Hl7Message } from '../../hl7/message.ts';
import { type StandardParser, standardParser } from '../../hl7/standard.ts';
import { create, parseJson } from './primordials.ts';
import { requireLibrary } from './require.ts';

/** Throws what the parser throws. */
export function readInput(kind: RunInput['kind'], input: string): unknown {
  switch (kind) {
    case 'text':
      return input;
    case 'json':
    case 'fhir':
      return parseJson(input);
    case 'form':
      return withoutPrototype(parseJson(input));
    case 'hl7':
      return Hl7Message.parse(input, { standard: parseStandard });
    case 'none':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** Loads the library on first use: most Bots never look at `standard`. */
const parseStandard: StandardParser = (normalised) =>
  standardParser(requireLibrary('hl7-standard') as Parameters<typeof standardParser>[0])(normalised);

/** Field names come from outside: `toString` or `__proto__` must be a field like any other. */
function withoutPrototype(fields: Record<string, string>): Record<string, string> {
  const record = create(null) as Record<string, string>;
  for (const name of Object.keys(fields)) {
    record[name] = fields[name] as string;
  }
  return record;
}
