import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePolicy } from '../../../shared/identity/policies/parse-policy.ts';
import { policyWarnings } from '../../../shared/identity/policies/policy-words.ts';
import { hasElementIn } from '../../../shared/store/fhir/elements.ts';
import { structures } from '../../../shared/store/fhir/structures.ts';
import {
  conditionsOf,
  entriesIn,
  interactionsOf,
  shownValue,
  type WrittenEntry,
  withClosed,
  withConditions,
  withInteractions,
  withType,
  writtenValue,
} from '../../../web/src/policies/builder/entry.ts';
import { templates } from '../../../web/src/policies/templates.ts';

const strange: WrittenEntry = {
  id: 'kept',
  resourceType: 'Patient',
  extension: [{ url: 'urn:x', valueString: 'kept' }],
  criteria: 'Patient?name:exact=O%26K+1&organization=%ward',
  readonly: true,
  hiddenFields: ['telecom'],
  somethingNew: { a: [1] },
};

describe('an entry of a policy in the builder', () => {
  test('what the builder does not know is never lost', () => {
    const { criteria: _, ...withoutCriteria } = strange;
    const { readonly: __, ...withoutReadonly } = strange;
    const { hiddenFields: ___, ...withoutHidden } = strange;
    expect(withConditions(strange, [])).toEqual(withoutCriteria);
    expect(withInteractions(strange, ['read'])).toEqual({ ...withoutReadonly, interaction: ['read'] });
    expect(withClosed(strange, 'hiddenFields', [])).toEqual(withoutHidden);
    expect(withType(strange, 'Group')).toEqual({
      ...strange,
      resourceType: 'Group',
      criteria: 'Group?name:exact=O%26K+1&organization=%ward',
    });
    expect(withConditions(strange, conditionsOf(strange) ?? [])).toEqual(strange);
  });

  test('a value is shown as it is meant, and only what would end it is encoded', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const written = writtenValue(value.replaceAll('%', ''));
        const entry = withConditions({ resourceType: 'Patient' }, [{ name: 'name', value: written }]);
        const [condition] = conditionsOf(entry) ?? [];
        expect(shownValue(condition?.value ?? '')).toBe(value.replaceAll('%', ''));
        const search = new URLSearchParams(String(entry.criteria).slice('Patient?'.length));
        expect(search.get('name')).toBe(value.replaceAll('%', '').toWellFormed());
      }),
    );
  });

  test('interactions mean the same to the builder and to the service', () => {
    const all = ['create', 'read', 'vread', 'update', 'delete', 'search', 'history', 'execute'] as const;
    fc.assert(
      fc.property(
        fc.constantFrom('Patient', 'Bot', '*'),
        fc.option(fc.subarray([...all]), { nil: undefined }),
        fc.option(fc.boolean(), { nil: undefined }),
        fc.subarray([...all]),
        (resourceType, interaction, readonly, chosen) => {
          const entry = JSON.parse(JSON.stringify({ resourceType, interaction, readonly }));
          const meant = (one: WrittenEntry) => {
            const [parsed] = parsePolicy({ resource: [one] }, () => undefined);
            return [...(parsed?.interactions ?? [])].sort();
          };
          expect([...(interactionsOf(entry) ?? [])].sort()).toEqual(meant(entry));
          const isOfBots = resourceType === 'Bot';
          const relevant = (list: readonly string[]) => list.filter((one) => isOfBots || one !== 'execute');
          expect(relevant(meant(withInteractions(entry, chosen)))).toEqual(relevant([...chosen].sort()));
        },
      ),
    );
  });

  test.each([
    [{ resourceType: 'Patient', criteria: 'Group?x=1' }],
    [{ resourceType: 'Patient', criteria: 'Patient?' }],
    [{ resourceType: 'Patient', criteria: 7 }],
  ])('criteria that cannot be taken apart are said to be so: %j', (entry) => {
    expect(conditionsOf(entry as WrittenEntry)).toBeUndefined();
    expect(withType(entry as WrittenEntry, 'Patient')).toEqual(entry);
  });

  test.each(['', '{', '{}', '[1]', '[{}]', '[null]'])('%j is no list of entries', (text) => {
    expect(entriesIn(text)).toBeUndefined();
  });

  test('templates are entries that the builder shows, and nothing in them is doubtful', async () => {
    const all = await structures();
    for (const { label, resource } of templates) {
      const entries = entriesIn(JSON.stringify(resource));
      expect([label, entries?.map(conditionsOf).includes(undefined)]).toEqual([label, false]);
      const warnings = policyWarnings({ resource }, (type, path) => hasElementIn(all, type, path));
      expect([label, warnings]).toEqual([label, []]);
    }
  });
});
