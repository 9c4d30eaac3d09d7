import { describe, expect, test } from '@jest/globals';
import { policyWarnings } from '../../../shared/identity/policies/policy-words.ts';
import { elementNames, hasElementIn } from '../../../shared/store/fhir/elements.ts';
import { structures } from '../../../shared/store/fhir/structures.ts';

const all = await structures();
const warningsOf = (...resource: unknown[]) =>
  policyWarnings({ resource }, (type, path) => hasElementIn(all, type, path));
const patients = { resourceType: 'Patient', interaction: ['read', 'search'] };

describe('what of a policy is probably not meant', () => {
  test.each<[string, unknown[], string[]]>([
    ['nothing', [patients], []],
    ['no entries', [], ['The policy has no entries: whoever has it may do nothing.']],
    [
      'an empty list of interactions',
      [patients, { resourceType: 'Observation', interaction: [] }],
      ['Entry 2 grants nothing: the list of interactions is empty.'],
    ],
    [
      'a misspelt variable',
      [{ ...patients, criteria: 'Patient?general-practitioner=%profil' }],
      ['Entry 1: there is no variable %profil. Do you mean %profile?'],
    ],
    [
      'its id',
      [{ ...patients, criteria: 'Patient?_id=%Patiens.id' }],
      ['Entry 1: there is no variable %Patiens. Do you mean %patient?'],
    ],
    ['variables that there are', [{ ...patients, criteria: 'Patient?_id=%patient.id,%profile.id' }], []],
    [
      'a parameter',
      [{ ...patients, criteria: 'Patient?organization=%ward' }],
      ['Entry 1: %ward is a parameter. It grants nothing to a member whose access does not give it.'],
    ],
    [
      'elements that do not exist',
      [{ ...patients, hiddenFields: ['telecom', 'telefon'], readonlyFields: ['name.famly'] }],
      ['Entry 1: Patient has no element telefon or name.famly.'],
    ],
    [
      'an entry within a wider one',
      [patients, { resourceType: '*' }],
      ['Entry 1 adds nothing: entry 2 grants all of it.'],
    ],
    ['the same twice', [patients, patients], ['Entry 2 adds nothing: entry 1 grants all of it.']],
    [
      'a wider type that leaves Bots out',
      [{ resourceType: 'Bot', readonly: true }, { resourceType: '*' }],
      [],
    ],
    [
      'a narrower entry that grants more',
      [{ ...patients, criteria: 'Patient?active=true' }, patients].reverse().concat([]),
      ['Entry 2 adds nothing: entry 1 grants all of it.'],
    ],
    [
      'another criterion',
      [
        { ...patients, criteria: 'Patient?active=true' },
        { ...patients, criteria: 'Patient?active=false' },
      ],
      [],
    ],
    [
      'hiding what another entry shows',
      [
        { ...patients, hiddenFields: ['telecom', 'name.family'] },
        { ...patients, hiddenFields: ['name'] },
      ],
      ['Entry 1 hides telecom in vain: entry 2 shows it.', 'Entry 2 hides name in vain: entry 1 shows it.'],
    ],
    [
      'protecting what another entry lets members change',
      [{ resourceType: 'Patient', readonlyFields: ['birthDate'] }, { resourceType: '*' }],
      ['Entry 1 protects birthDate in vain: entry 2 lets members change it.'],
    ],
    [
      'protecting beside an entry that only reads',
      [
        { resourceType: 'Patient', readonlyFields: ['birthDate'] },
        { resourceType: '*', readonly: true },
      ],
      [],
    ],
  ])('%s', (_name, entries, expected) => {
    expect(warningsOf(...entries)).toEqual(expected);
  });

  test('elements are offered as JSON names them, each of which exists', () => {
    const names = elementNames(all, 'Patient');
    expect(names).toEqual(expect.arrayContaining(['birthDate', 'name', 'name.family', 'deceased[x]']));
    expect(names.filter((name) => !hasElementIn(all, 'Patient', name))).toEqual([]);
    expect(names).not.toContain('id');
    expect(names).not.toContain('birthDate.value');
  });
});
