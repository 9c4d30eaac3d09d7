import type { Resource } from '../../shared/base/resource.ts';
import { unlimitedBudget } from '../../shared/carry/table/budget.ts';
import type { Actor, NamedPolicy } from '../../shared/identity/gate/actor.ts';
import * as own from '../../shared/identity/policies/own-access.ts';
import type { Interaction } from '../../shared/identity/policies/parse-policy.ts';
import { withoutFields } from '../../shared/store/fhir/fields.ts';
import type { ProjectMembership } from '../../shared/store/fhir/membership.ts';
import fc from '../setup/fast-check.ts';

const meta = { versionId: '1', lastUpdated: '2026-01-31T12:00:00.000Z', project: 'p' };
const record = (resourceType: string, id: string, elements: Record<string, unknown>): Resource => ({
  ...{ resourceType, id, meta },
  ...elements,
});
const at = (reference: string) => ({ reference });

const patient = (id: string, gender: string, ward: string, gp: string) =>
  record('Patient', id, {
    ...{ gender, active: id !== 'p3', birthDate: '1970-01-01', name: [{ family: `F${id}`, given: ['A'] }] },
    ...{ managingOrganization: at(ward), generalPractitioner: [at(gp)] },
  });
const task = (id: string, status: string, owner: string) =>
  record('Task', id, { status, intent: 'order', owner: at(owner), description: `D${id}` });
const observation = (id: string, status: string, subject: string) =>
  record('Observation', id, { status, code: { text: 'x' }, subject: at(subject), valueString: `V${id}` });

/** What can be reached: nothing in a walk writes them, and nobody's rights but a policy's speak of them. */
const records: readonly Resource[] = [
  patient('p1', 'female', 'Organization/7', 'Practitioner/g1'),
  patient('p2', 'male', 'Organization/7', 'Practitioner/g2'),
  patient('p3', 'female', 'Organization/8', 'Practitioner/g1'),
  task('t1', 'draft', 'Organization/7'),
  task('t2', 'draft', 'Organization/8'),
  task('t3', 'ready', 'Practitioner/g1'),
  observation('o1', 'final', 'Patient/p1'),
  observation('o2', 'preliminary', 'Patient/p2'),
  record('Bot', 'b1', { name: 'one' }),
  record('AuditEvent', 'a1', { outcome: '0' }),
  record('AccessPolicy', 'r1', { name: 'one' }),
  record('Subscription', 's1', { status: 'active' }),
  record('Binary', 'y1', { contentType: 'text/plain' }),
];

const reading = ['read', 'vread', 'search', 'history'] as const;

/** A member as far as rights go. */
export type Holder = Pick<ProjectMembership, 'profile' | 'patient' | 'admin'>;

/**
 * All that somebody may do: `read Patient/p1 gender`, `update Task/t1 status`, `execute Bot/b1`. What repeats other
 * elements (the narrative) is none of its own.
 * @param policies undefined where the membership names none
 */
export async function reachOf(
  membership: Holder,
  policies: readonly NamedPolicy[] | undefined,
): Promise<Set<string>> {
  const actor = actorOf(membership, policies);
  const reach = new Set<string>();
  if (membership.admin && !policies) reach.add('everything');
  for (const one of records) {
    const name = `${one.resourceType}/${one.id}`;
    const elements = Object.keys(one).filter((element) => element !== 'resourceType' && element !== 'meta');
    for (const interaction of reading) {
      const hidden = await own.hiddenFields(actor, interaction, one);
      if (!hidden) continue;
      const seen = withoutFields(one, hidden);
      for (const element of elements)
        if (seen[element] !== undefined) reach.add(`${interaction} ${name} ${element}`);
      if (JSON.stringify(seen).includes('"family"')) reach.add(`${interaction} ${name} name.family`);
    }
    for (const interaction of ['delete', 'execute'] satisfies Interaction[]) {
      if (interaction === 'execute' && one.resourceType !== 'Bot') continue;
      if (await own.allows(actor, interaction, one)) reach.add(`${interaction} ${name}`);
    }
    if (await own.allowsChange(actor, undefined, one)) reach.add(`create ${name}`);
    for (const element of elements.filter((element) => element !== 'id')) {
      const { [element]: _, ...without } = one;
      const after = { ...without, resourceType: one.resourceType, id: one.id, meta };
      if (await own.allowsChange(actor, one, after)) reach.add(`update ${name} ${element}`);
    }
  }
  return reach;
}

function actorOf(membership: Holder, policies: readonly NamedPolicy[] | undefined): Actor {
  const { reference: profile } = membership.profile;
  const [type = '', id = ''] = profile.split('/');
  return {
    ...{ loginId: '', clientId: '', scope: 'openid', subject: id, project: 'p', membershipId: 'm', profile },
    membership: {
      ...{ resourceType: 'ProjectMembership', id: 'm', meta, active: true },
      ...{ project: at('Project/p'), user: at(`${type}/${id}`) },
      ...membership,
    },
    admin: membership.admin === true,
    policies,
    contextOf: async () => undefined,
    budget: unlimitedBudget(),
  };
}

const criteria: Readonly<Record<string, readonly string[]>> = {
  Patient: [
    'gender=female',
    'active=true',
    'organization=%ward',
    'general-practitioner=%profile',
    '_id=%patient.id',
  ],
  Task: ['status=draft', 'owner=%ward', 'owner=Organization/7', 'owner=%profile'],
  Observation: ['status=final', 'subject=%patient', 'subject=Patient/p1'],
};
const closable: Readonly<Record<string, readonly string[]>> = {
  Patient: ['birthDate', 'name', 'name.family', 'gender'],
  Task: ['description', 'status'],
  Observation: ['value[x]'],
  '*': ['description', 'data'],
};
const interactions = ['create', 'read', 'vread', 'update', 'delete', 'search', 'history', 'execute'];

const some = <T>(values: readonly T[], maxLength: number) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength });

/** An entry of AccessPolicy.resource. */
export const policyEntry = fc
  .constantFrom(
    'Patient',
    'Task',
    'Task',
    'Observation',
    '*',
    'Bot',
    'AuditEvent',
    'AccessPolicy',
    'Subscription',
  )
  .chain((resourceType) =>
    fc.record(
      {
        resourceType: fc.constant(resourceType),
        ...(criteria[resourceType]
          ? { criteria: some(criteria[resourceType], 2).map((all) => `${resourceType}?${all.join('&')}`) }
          : {}),
        interaction: some(interactions, 8),
        readonly: fc.boolean(),
        ...(closable[resourceType]
          ? { hiddenFields: some(closable[resourceType], 2), readonlyFields: some(closable[resourceType], 2) }
          : {}),
      },
      { requiredKeys: ['resourceType'] },
    ),
  );

/** Values of variables, as a membership gives them. */
export const parameters = fc.constantFrom(
  [],
  ...['7', '8'].map((id) => [{ name: 'ward', valueString: `Organization/${id}` }]),
);
