import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { inputTypes } from '../../shared/bot/input/input-types.ts';
import { settingEntries } from '../../shared/bot/settings.ts';
import { profileTypes } from '../../shared/fhir/resource.ts';
import { invitationStates } from '../../shared/invitation/states.ts';
import { modifiers } from '../../shared/search/kinds/modifiers.ts';

const textOf = (name: string) => readFileSync(resolve(import.meta.dirname, '../../docs', name), 'utf8');

const code = (name: string) => `\`${name}\``;

/** What the API takes and answers, by the page of docs/ that lists it, as it stands there. */
test.each<[page: string, what: string, names: readonly string[]]>([
  ['bots.md', 'content type', Object.values(inputTypes).map(code)],
  ['bots.md', 'setting of a Bot', Object.keys(settingEntries).map(code)],
  ['identity.md', 'state of an invitation', invitationStates.map(code)],
  ['access-policies.md', 'type of profile', profileTypes.map((type) => `| ${type}`)],
  [
    'search.md',
    'modifier of a search',
    Object.values(modifiers).flatMap((of) => of.map((name) => code(`:${name}`))),
  ],
])('docs/%s names every %s', (page, _what, names) => {
  const text = textOf(page);
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
});
