import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const examples = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));
const admission = fileURLToPath(new URL('../../examples/bots/adt-to-patient.hl7', import.meta.url));

export interface BotInput {
  contentType: string;
  body: string;
}

/** Something that a Bot with this text takes: what it says of `event.input`, else an empty object. */
export function inputFor(source: string): BotInput {
  const [, type = ''] = /BotEvent<\s*(\w+)/.exec(source) ?? /event\.input as (\w+)/.exec(source) ?? [];
  if (type === 'Hl7Message') {
    return { contentType: 'x-application/hl7-v2+er7', body: readFileSync(admission, 'utf8') };
  }
  const [example] = /^[A-Z]\w+$/.test(type) ? examplesOf(type) : [];
  if (example === undefined) return { contentType: 'application/json', body: '{}' };
  return { contentType: 'application/fhir+json', body: readFileSync(join(examples, example), 'utf8') };
}

/** FHIR's own examples of a type. */
function examplesOf(type: string): string[] {
  if (!existsSync(join(examples, `StructureDefinition-${type}.json`))) return [];
  return readdirSync(examples)
    .filter((name) => name.startsWith(`${type}-`) && name.endsWith('.json'))
    .sort();
}
