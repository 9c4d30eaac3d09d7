import { describe, expect, test } from '@jest/globals';
import { isAdministrative } from '../../../shared/base/resource.ts';
import { newBudget } from '../../../shared/carry/table/budget.ts';
import type { Actor } from '../../../shared/identity/gate/actor.ts';
import { mayInteract } from '../../../shared/identity/policies/access.ts';
import type { Interaction } from '../../../shared/identity/policies/parse-policy.ts';
import { parsePolicy } from '../../../shared/identity/policies/parse-policy.ts';
import { policyWords } from '../../../shared/identity/policies/policy-words.ts';
import { defaultWords } from '../../../shared/identity/policies/rule-words.ts';
import { variablesOf } from '../../../shared/identity/policies/rules.ts';
import fc from '../../setup/fast-check.ts';

const textsOf = (...resource: unknown[]) =>
  policyWords({ resource }, { isAdministrator: false }).map(({ text }) => text);

describe('a policy in plain words', () => {
  test.each([
    [{ resourceType: 'Patient', readonly: true }, 'May read Patients.'],
    [{ resourceType: '*' }, 'May read, create, change and delete clinical records of every type.'],
    [
      {
        resourceType: 'Patient',
        criteria: 'Patient?organization=Organization/7',
        interaction: ['read', 'vread', 'search', 'history'],
        hiddenFields: ['telecom'],
      },
      'May read Patients where organization is Organization/7, without telecom.',
    ],
    [
      { resourceType: 'Observation', interaction: ['create', 'update'] },
      'May create and change Observations.',
    ],
    [{ resourceType: 'Family', readonly: true }, 'Grants nothing: Family is not a resource type.'],
    [{ resourceType: 'Binary', interaction: ['read'] }, 'May open Binaries.'],
    [
      { resourceType: 'Media', interaction: ['search', 'vread'] },
      'May search and open earlier versions of Media records.',
    ],
    [
      { resourceType: 'Patient', criteria: 'Patient?_id=%profile.id', readonlyFields: ['name', 'birthDate'] },
      'May read, create, change and delete their own Patient record, and not write name and birthDate.',
    ],
    [
      {
        resourceType: 'Observation',
        criteria: 'Observation?subject=%patient&date=ge2020-01-01,lt2000',
        readonly: true,
      },
      'May read Observations where subject is their own patient and date is at or after 2020-01-01 or is before 2000.',
    ],
    [
      {
        resourceType: 'Encounter',
        criteria: 'Encounter?status:not=finished&participant=%profile',
        readonly: true,
      },
      'May read Encounters where status is not finished and participant is their own profile.',
    ],
    [
      {
        resourceType: 'Patient',
        criteria: 'Patient?family:exact=O%20%C3%A9&deceased:missing=true',
        readonly: true,
      },
      'May read Patients where family is exactly O %C3%A9 and deceased has no value.',
    ],
    // No rule of a policy that is stored: dates have no modifiers. An author reads it before it is refused.
    [
      { resourceType: 'Patient', criteria: 'Patient?birthdate:not=ge2000', readonly: true },
      'May read Patients where birthdate is not ge2000.',
    ],
    [
      { resourceType: 'Bot', criteria: 'Bot?name=triage', interaction: ['execute'] },
      'May run Bots where name starts with triage.',
    ],
    [{ resourceType: 'Patient', interaction: [] }, 'Grants nothing: the list of interactions is empty.'],
    [{ resourceType: 'Patient', interaction: ['execute'] }, 'Grants nothing: only Bots can be run.'],
    [
      { resourceType: 'Patient', criteria: 'Patient?shoe-size=43' },
      'Grants nothing: the criteria Patient?shoe-size=43 cannot be understood.',
    ],
    [
      { resourceType: 'Patient', criteria: 'Encounter?status=finished' },
      'Grants nothing: the criteria Encounter?status=finished cannot be understood.',
    ],
    [
      { resourceType: 'AccessPolicy', interaction: ['update'] },
      'Grants nothing: AccessPolicies are changed by administrators only, in their own pages.',
    ],
    [{ resourceType: 'AuditEvent' }, 'Grants nothing: AuditEvents are read by administrators only.'],
    [{ resourceType: 'User' }, 'Grants nothing: a User is read and changed by that user only.'],
    [
      { resourceType: 'Binary', hiddenFields: ['data'] },
      'Grants nothing: a Binary is nothing without its bytes.',
    ],
    ...[
      ['telecom', 'id'],
      ['telecom', 'name..family'],
      ['telecom', 5],
    ].map((hiddenFields): [unknown, string] => [
      { resourceType: 'Patient', hiddenFields },
      'Grants nothing: hiddenFields must name elements such as birthDate or name.family, not resourceType, id or meta.',
    ]),
    [{ resourceType: 'Patient', compartment: 'x' }, 'Grants nothing: compartment is not supported.'],
    [null, 'Grants nothing: An entry must be an object.'],
  ])('%j', (entry, text) => {
    expect(textsOf(entry)).toEqual([text]);
  });

  test.each(['basedOn', 'compartment', 'ipAccessRule'])(
    'a policy with %s, which could narrow it, grants nothing at all',
    (name) => {
      const policy = { [name]: [], resource: [{ resourceType: 'Patient' }] };
      const refused: string[] = [];
      expect(parsePolicy(policy, (expression) => refused.push(expression))).toEqual([]);
      expect(refused).toEqual([name]);
      expect(policyWords(policy, { isAdministrator: false })).toEqual([
        {
          entry: 0,
          resourceType: 'Patient',
          interactions: [],
          text: `Grants nothing: ${name} is not supported.`,
        },
      ]);
    },
  );

  test('of a member, its variables have their values, and one without a value grants nothing', () => {
    const policy = {
      resource: [
        { resourceType: 'Patient', criteria: 'Patient?organization=%ward', readonly: true },
        { resourceType: 'Encounter', criteria: 'Encounter?location=%place', readonly: true },
      ],
    };
    const words = policyWords(policy, {
      isAdministrator: false,
      variables: new Map([
        ['ward', 'Organization/7,Organization/8'],
        ['place', ''],
      ]),
    });
    expect(words.map(({ text }) => text)).toEqual([
      'May read Patients where organization is Organization/7 or is Organization/8.',
      'Grants nothing: %place has no value for this member.',
    ]);
  });
});

describe('the rights of a member without a policy', () => {
  const textsFor = (profileType: string, more: object = {}) =>
    defaultWords({ profileType, isAdministrator: false, hasPatients: false, ...more }).map(
      ({ text }) => text,
    );

  test.each([
    [
      'Practitioner',
      {},
      ['May read, create, change and delete clinical records of every type.', 'May run Bots.'],
    ],
    [
      'Patient',
      {},
      [
        'May read and change their own Patient record, changing only telecom, address, communication, photo and contact.',
        'May read clinical records of every type about themselves.',
      ],
    ],
    ['RelatedPerson', {}, ['May read their own RelatedPerson record.']],
    [
      'RelatedPerson',
      { hasPatients: true },
      [
        'May read their own RelatedPerson record.',
        'May read and change the Patient record of each linked patient, changing only telecom, address, communication, photo and contact.',
        'May read clinical records of every type about each linked patient.',
      ],
    ],
    [
      'Practitioner',
      { isAdministrator: true },
      ['May do everything in this project: every record, and its people, Bots, policies and API keys.'],
    ],
  ])('%s %j', (type, more, texts) => expect(textsFor(type, more)).toEqual(texts));
});

const interactions: readonly Interaction[] = [
  'create',
  'read',
  'vread',
  'update',
  'delete',
  'search',
  'history',
  'execute',
];
const types = ['*', 'Patient', 'Observation', 'Binary', 'Bot', 'AccessPolicy', 'ClientApplication', 'Wrong'];
const entry = fc
  .record(
    {
      resourceType: fc.constantFrom(...types),
      criteria: fc.constantFrom(
        '%T?_id=1',
        '%T?_lastUpdated=ge2020',
        '%T?_id=%profile.id',
        '%T?_tag=%ward',
        '%T?wrong=1',
        'Other?_id=1',
        '',
      ),
      readonly: fc.boolean(),
      interaction: fc.subarray([...interactions]),
      hiddenFields: fc.constantFrom([], ['telecom'], ['data']),
      readonlyFields: fc.constantFrom([], ['name.family']),
    },
    { requiredKeys: ['resourceType'] },
  )
  .map((one) => ({
    ...one,
    ...(one.criteria === undefined ? {} : { criteria: one.criteria.replace('%T', one.resourceType) }),
  }));

/** What the service decides by, of somebody who has this policy. */
function actorWith(policy: object, admin: boolean): Actor {
  const membership = {
    resourceType: 'ProjectMembership',
    id: 'm',
    meta: {},
    profile: { reference: 'Practitioner/p' },
  };
  return {
    membership,
    admin,
    profile: 'Practitioner/p',
    scope: '',
    policies: [{ policy, parameters: [] }],
    budget: newBudget(),
  } as unknown as Actor;
}

describe('whatever the policy', () => {
  /** Written by no FHIR interaction, whatever a policy says: other rules than a policy's close them. */
  const isClosedElsewhere = (type: string, interaction: Interaction) =>
    (type === 'Bot' || type === 'ClientApplication') && interaction === 'create';

  test('its words name every entry, and say what the service allows, no more and no less', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), fc.boolean(), (resource, isAdministrator) => {
        const actor = actorWith({ resource }, isAdministrator);
        const words = policyWords({ resource }, { isAdministrator, variables: variablesOf(actor, []) });
        expect(words.map((one) => one.entry)).toEqual(resource.map((_, i) => i));
        for (const type of types.filter((one) => one !== '*' && one !== 'Wrong')) {
          for (const interaction of interactions) {
            if (isClosedElsewhere(type, interaction) || (interaction === 'execute' && type !== 'Bot'))
              continue;
            const said = words.some(
              (one) =>
                one.interactions.includes(interaction) &&
                (one.resourceType === type ||
                  (one.resourceType === '*' && !isAdministrative(type) && !one.except?.includes(type))),
            );
            const isReadable = words.every((one) => !/cannot be understood/.test(one.text));
            const allowed = mayInteract(actor, interaction, type);
            // Criteria that nothing can match are a rule to the service all the same: the words say less.
            if (isReadable) expect([type, interaction, said]).toEqual([type, interaction, allowed]);
            else expect(said && !allowed).toBe(false);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('every sentence that grants something names each element that it closes', () => {
    fc.assert(
      fc.property(entry, (one) => {
        const [said] = policyWords({ resource: [one] }, { isAdministrator: false });
        if (!said || said.interactions.length === 0) return;
        for (const path of one.hiddenFields ?? []) expect(said.text).toContain(path);
        const writes = said.interactions.some((name) => ['create', 'update', 'delete'].includes(name));
        for (const path of writes ? (one.readonlyFields ?? []) : []) expect(said.text).toContain(path);
      }),
    );
  });
});
