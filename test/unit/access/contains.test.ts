import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../../shared/base/resource.ts';
import { contains, exceeding } from '../../../shared/identity/policies/contains.ts';
import type { Rule } from '../../../shared/identity/policies/parse-policy.ts';
import { parsePolicy } from '../../../shared/identity/policies/parse-policy.ts';
import { policyRules, rulesForAnybody } from '../../../shared/identity/policies/rules.ts';
import fc from '../../setup/fast-check.ts';
import { parameters, policyEntry, reachOf } from '../../walks/reach.ts';

const ruleOf = (entry: object): Rule => parsePolicy({ resource: [entry] }, () => undefined)[0] as Rule;
const patient = (more: object = {}) => ({ resourceType: 'Patient', ...more });
const where = (query: string) => patient({ criteria: `Patient?${query}` });

describe('a rule', () => {
  test.each<[name: string, wide: object, narrow: object, isWithin: boolean]>([
    ['itself', patient(), patient(), true],
    ['another type', patient(), { resourceType: 'Task' }, false],
    ['a type of every type', { resourceType: '*' }, patient(), true],
    ['every type of one', patient(), { resourceType: '*' }, false],
    ['a type that is none of every', { resourceType: '*' }, { resourceType: 'AccessPolicy' }, false],
    ['Subscription of every type', { resourceType: '*' }, { resourceType: 'Subscription' }, false],
    ['fewer interactions', patient(), patient({ readonly: true }), true],
    [
      'more interactions',
      patient({ interaction: ['read'] }),
      patient({ interaction: ['read', 'search'] }),
      false,
    ],
    [
      'execute, where nothing is executed',
      patient({ interaction: ['read'] }),
      patient({ interaction: ['read', 'execute'] }),
      true,
    ],
    ['execute on Bots', { resourceType: 'Bot', readonly: true }, { resourceType: 'Bot' }, false],
    ['no interaction at all', { resourceType: 'Task' }, patient({ interaction: [] }), true],
    ['a condition', patient(), where('gender=female'), true],
    ['no condition', where('gender=female'), patient(), false],
    ['one more condition', where('gender=female'), where('active=true&gender=female'), true],
    ['one condition less', where('active=true&gender=female'), where('gender=female'), false],
    ['another value', where('gender=female'), where('gender=male'), false],
    ['more values', where('gender=female'), where('gender=female,male'), false],
    ['fewer values', where('gender=female,male'), where('gender=female'), false],
    ['another modifier', where('gender=female'), where('gender:not=female'), false],
    ['the same, escaped', where('organization=Organization/7'), where('organization=Organization%2F7'), true],
    ['a condition within no condition that can be read', where(''), where('gender=female'), false],
    ['criteria of another type', where('_id=1'), patient({ criteria: '*?_id=1' }), false],
    ['criteria of every type', { resourceType: '*', criteria: '*?_id=1' }, where('_id=1'), false],
    ['an element more hidden', patient(), patient({ hiddenFields: ['name'] }), true],
    ['an element less hidden', patient({ hiddenFields: ['name'] }), patient(), false],
    [
      'a part hidden of what is hidden',
      patient({ hiddenFields: ['name'] }),
      patient({ hiddenFields: ['name.family'] }),
      false,
    ],
    [
      'the whole hidden of what is hidden in part',
      patient({ hiddenFields: ['name.family'] }),
      patient({ hiddenFields: ['name'] }),
      true,
    ],
    [
      'an element that only begins alike',
      patient({ hiddenFields: ['name'] }),
      patient({ hiddenFields: ['nameless'] }),
      false,
    ],
    [
      'a condition, where an element is hidden',
      patient({ hiddenFields: ['name'] }),
      patient({ criteria: 'Patient?gender=female', hiddenFields: ['name'] }),
      false,
    ],
    [
      'one record, where an element is hidden',
      patient({ hiddenFields: ['name'] }),
      patient({ criteria: 'Patient?_id=1', hiddenFields: ['name'] }),
      true,
    ],
    [
      'a condition, where nothing is read',
      patient({ interaction: ['update'] }),
      patient({ criteria: 'Patient?gender=female', interaction: ['update'] }),
      false,
    ],
    ['an element less readonly', patient({ readonlyFields: ['name'] }), patient(), false],
    [
      'what was readonly hidden',
      patient({ readonlyFields: ['name'] }),
      patient({ hiddenFields: ['name'] }),
      true,
    ],
    [
      'what was hidden readonly',
      patient({ hiddenFields: ['name'] }),
      patient({ readonlyFields: ['name'] }),
      false,
    ],
  ])('%s', (_name, wide, narrow, isWithin) => {
    expect(contains(ruleOf(wide), ruleOf(narrow))).toBe(isWithin);
  });

  test('of a compartment or of some elements is within the same, or none', () => {
    const rule = ruleOf(patient());
    const [own, other] = ['Patient/1', 'Patient/2'].map((compartment) => ({ ...rule, compartment })) as [
      Rule,
      Rule,
    ];
    expect([contains(rule, own), contains(own, own), contains(own, other), contains(own, rule)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const some: Rule = { ...rule, writableFields: ['telecom', 'photo'] };
    const one: Rule = { ...rule, writableFields: ['photo'] };
    expect([contains(rule, some), contains(some, one), contains(one, some), contains(some, rule)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('what is within by rule', () => {
  const policy = (resource: object[]): Resource => ({
    ...{ resourceType: 'AccessPolicy', id: 'x', meta: { versionId: '1', lastUpdated: '' } },
    resource,
  });
  const entries = fc.array(policyEntry, { minLength: 1, maxLength: 3 });
  const member = (id: string, admin: boolean) => ({ profile: { reference: `Practitioner/${id}` }, admin });
  const beyond = (some: Set<string>, all: Set<string>) => [...some].filter((one) => !all.has(one));

  test('reaches no more: two members, each with values of their own', async () => {
    let within = 0;
    await fc.assert(
      fc.asyncProperty(
        ...([entries, entries, parameters, parameters, fc.constantFrom('g1', 'g2'), fc.boolean()] as const),
        async (wide, narrow, wideParameters, narrowParameters, id, admin) => {
          const holder = member('g1', true);
          const receiver = member(id, admin);
          const held = [{ policy: policy(wide), parameters: wideParameters }];
          // Half of the time what is given is made of what is held.
          const given = [
            { policy: policy([...narrow.slice(1), ...wide.slice(0, 1)]), parameters: narrowParameters },
          ];
          const rulesOf = (one: typeof holder, of: typeof held) =>
            policyRules({ membership: one, profile: one.profile.reference }, of);
          if (exceeding(rulesOf(holder, held), rulesOf(receiver, given))) return;
          within += 1;
          expect(beyond(await reachOf(receiver, given), await reachOf(holder, held))).toEqual([]);
        },
      ),
      { numRuns: 600 },
    );
    expect(within).toBeGreaterThan(60);
  });

  test('reaches no more, for whoever has a policy that is changed', async () => {
    let within = 0;
    await fc.assert(
      fc.asyncProperty(
        ...([entries, entries, parameters, fc.constantFrom('g1', 'g2'), fc.boolean()] as const),
        async (before, more, values, id, isNew) => {
          const after = isNew
            ? more
            : before.map((one, i) => ({
                ...one,
                ...(i === 0 ? { hiddenFields: ['name', 'description', 'value[x]'] } : { readonly: true }),
              }));
          if (exceeding(rulesForAnybody(policy(before)), rulesForAnybody(policy(after)))) return;
          within += 1;
          const reach = (resource: object[]) =>
            reachOf(member(id, true), [{ policy: policy(resource), parameters: values }]);
          expect(beyond(await reach(after), await reach(before))).toEqual([]);
        },
      ),
      { numRuns: 400 },
    );
    expect(within).toBeGreaterThan(60);
  });
});
