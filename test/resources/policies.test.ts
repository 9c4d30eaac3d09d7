import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Refusal } from '../../shared/base/refusal.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { admit } from '../../shared/identity/gate/actor.ts';
import { hiddenByPolicies } from '../../shared/identity/policies/access.ts';
import { comparisonsOf, policyRules } from '../../shared/identity/policies/rules.ts';
import { readEverything } from '../../shared/records/read/everything.ts';
import { readHistory } from '../../shared/records/read/history.ts';
import { readerOf } from '../../shared/records/read/included.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { createChange } from '../../shared/store/items/change.ts';
import { headAttributes } from '../../shared/store/items/content.ts';
import { findHits } from '../../shared/store/search/find-hits.ts';
import { newSearch } from '../../shared/store/search/hit.ts';
import { parseSearch } from '../../shared/store/search/search-request.ts';
import fc from '../setup/fast-check.ts';
import { ringOf } from '../setup/key-rings.ts';
import { casesOf } from '../setup/long.ts';
import { newProject, newResource, type Stage, startStage } from '../storage/stage.ts';

/**
 * Random policies and scopes against a fixed set of resources: what a read shows is what a search shows
 * and what the few lines of `naive` allow.
 */
let stage: Stage;
let caller: Caller;
const stored = new Map<string, Resource>();

const types = ['Patient', 'Observation', 'Encounter'] as const;
const subject = (id: string) => ({ subject: { reference: `Patient/${id}` } });
const observation = { status: 'final', code: { text: 'x' } };
const encounter = { status: 'planned', class: { code: 'AMB' } };
const resources = [
  {
    resourceType: 'Patient',
    id: 'p1',
    gender: 'male',
    birthDate: '1970-01-01',
    name: [{ family: 'A', given: ['a'] }],
  },
  { resourceType: 'Patient', id: 'p2', gender: 'female', active: true },
  {
    resourceType: 'Patient',
    id: 'p3',
    name: [{ family: 'C' }],
    link: [{ other: { reference: 'Patient/p1' }, type: 'seealso' }],
  },
  { resourceType: 'Observation', id: 'o1', ...observation, ...subject('p1'), valueString: 'v' },
  {
    resourceType: 'Observation',
    id: 'o2',
    ...observation,
    ...subject('p2'),
    performer: [{ reference: 'Patient/p1' }],
  },
  { resourceType: 'Observation', id: 'o3', ...observation, focus: [{ reference: 'Patient/p1' }] },
  { resourceType: 'Encounter', id: 'e1', ...encounter, ...subject('p1') },
  { resourceType: 'Encounter', id: 'e2', ...encounter, ...subject('p2') },
];

beforeAll(async () => {
  stage = await startStage();
  const project = await newProject(stage);
  for (const resource of resources) await newResource(stage, project.project, resource);
  const profile = 'Patient/p1';
  await newResource(stage, project.project, {
    resourceType: 'ProjectMembership',
    id: 'member',
    active: true,
    project: { reference: `Project/${project.project}` },
    user: { reference: 'User/u' },
    profile: { reference: profile },
    accessPolicy: { reference: 'AccessPolicy/policy' },
  });
  caller = callerOf({ ...project, membershipId: 'member', profile, loginId: 'login' }, 'member');
  await stage.services.table.put({ ...keys.login('login'), membershipId: 'member' });
  for (const { resourceType: type, id } of resources) {
    const read = await readResource(stage.services, project, { type, id });
    stored.set(`${type}/${id}`, read.resource);
  }
});
afterAll(() => stage.stop());

interface Entry {
  resourceType: string;
  criteria?: string;
  interaction?: string[];
  readonly?: boolean;
  hiddenFields?: string[];
}

/** Criteria, with what they say in TypeScript. */
const criteria: Record<string, (resource: Resource) => boolean> = {
  '_id=%profile.id': ({ id }) => id === 'p1',
  'gender=male': ({ gender }) => gender === 'male',
  'gender:not=male': ({ gender }) => gender !== 'male',
  'subject=%patient': (resource) => JSON.stringify(resource.subject ?? '').includes('Patient/p1'),
  'name=%unknown': () => false,
  '_count=5': () => false,
};
const asked = {
  Patient: ['_id=%profile.id', 'gender=male', 'gender:not=male', 'name=%unknown', '_count=5'],
  Observation: ['_id=%profile.id', 'subject=%patient', '_count=5'],
  Encounter: ['_id=%profile.id', 'subject=%patient'],
  '*': ['_id=%profile.id'],
};
const hideable = {
  Patient: ['birthDate', 'name', 'name.family'],
  Observation: ['value[x]', 'subject'],
  Encounter: ['class'],
  '*': ['name.given'],
};

const entry: fc.Arbitrary<Entry> = fc.constantFrom(...types, '*' as const).chain((resourceType) =>
  fc.record(
    {
      resourceType: fc.constant(resourceType),
      criteria: fc.constantFrom(...asked[resourceType]).map((query) => `${resourceType}?${query}`),
      interaction: fc.subarray(['read', 'search', 'update', 'create']),
      readonly: fc.boolean(),
      hiddenFields: fc.subarray(hideable[resourceType]),
    },
    { requiredKeys: ['resourceType'] },
  ),
);
const policy = fc.array(entry, { maxLength: 4 });
const scope = fc.array(
  fc
    .tuple(
      fc.constantFrom('patient', 'user', 'system'),
      fc.constantFrom(...types, '*'),
      fc.constantFrom('r', 's', 'rs', 'cu', 'cruds', 'read', '*'),
    )
    .map(([context, type, letters]) => `${context}/${type}.${letters}`),
  { maxLength: 3 },
);

/** The compartment of p1, by hand: of Observations by what is seen of them. */
const compartment = new Set(['Patient/p1', 'Patient/p3', 'Encounter/e1']);
const isInCompartment = ({ resourceType, id, subject, performer }: Resource) =>
  compartment.has(`${resourceType}/${id}`) || JSON.stringify([subject, performer]).includes('Patient/p1');

function naive(
  entries: Entry[],
  scopes: string[],
  interaction: 'read' | 'search',
  resource: Resource,
): Resource | undefined {
  const type = resource.resourceType;
  const inScope = (seen: Resource) =>
    scopes.some((one) => {
      const [, context, of, letters = ''] = /^(\w+)\/(.+)\.(.+)$/.exec(one) ?? [];
      const covers = ['*', 'read', 'cruds', 'rs', interaction.charAt(0)].includes(letters);
      if (of !== '*' && of !== type) return false;
      return covers && (context === 'user' || (context === 'patient' && isInCompartment(seen)));
    });
  const rules = entries.filter((one) => {
    if (one.resourceType !== '*' && one.resourceType !== type) return false;
    if (one.interaction && !one.interaction.includes(interaction)) return false;
    return one.criteria === undefined || criteria[one.criteria.split('?')[1] ?? '']?.(resource) === true;
  });
  if (rules.length === 0) return undefined;
  const hides = (path: string) => rules.every(({ hiddenFields = [] }) => hiddenFields.includes(path));
  const shown = structuredClone(resource) as Resource & { name?: Record<string, unknown>[] };
  if (hides('birthDate')) delete shown.birthDate;
  if (hides('value[x]')) delete shown.valueString;
  if (hides('class')) delete shown.class;
  const hidesPart = (part: string) =>
    rules.every(({ hiddenFields = [] }) =>
      hiddenFields.some((one) => one === 'name' || one === `name.${part}`),
    );
  for (const name of shown.name ?? []) {
    if (hidesPart('family')) delete name.family;
    if (hidesPart('given')) delete name.given;
  }
  if (hides('name')) delete shown.name;
  if (hides('subject')) delete shown.subject;
  return scopes.length > 0 && !inScope(shown) ? undefined : shown;
}

async function setPolicy(entries: Entry[]): Promise<void> {
  const { project } = caller;
  const meta = { versionId: '1', lastUpdated: new Date(stage.services.now()).toISOString(), project };
  const resource: Resource = { resourceType: 'AccessPolicy', id: 'policy', meta, resource: entries };
  await stage.services.table.put({
    ...keys.resource(project, 'AccessPolicy', 'policy'),
    ...headAttributes(resource),
  });
}

async function refusedAs(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
}

/** What GET and search show, by reference. */
async function shown(by: Caller): Promise<Record<'read' | 'search', Map<string, Resource>>> {
  const read = new Map<string, Resource>();
  const search = new Map<string, Resource>();
  for (const [reference, { resourceType: type, id }] of stored) {
    const answer = await refusedAs(readResource(stage.services, by, { type, id }));
    if (answer !== 'forbidden') read.set(reference, (answer as { resource: Resource }).resource);
  }
  for (const type of types) {
    const query = new URLSearchParams({ _count: '100' });
    const answer = await refusedAs(searchResources(stage.services, by, { type, query }));
    if (answer === 'forbidden') continue;
    const counting = { type, query: new URLSearchParams({ _summary: 'count' }) };
    const { total } = await searchResources(stage.services, by, counting);
    expect([type, total]).toEqual([type, (answer as { entry?: unknown[] }).entry?.length ?? 0]);
    for (const { resource } of (answer as { entry?: { resource: Resource }[] }).entry ?? []) {
      search.set(`${type}/${resource.id}`, resource);
    }
  }
  return { read, search };
}

const sorted = (found: Map<string, Resource>) =>
  Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));

describe('any policy, under any scopes', () => {
  test('shows by GET and by search what it allows, and no scope widens it', async () => {
    await fc.assert(
      fc.asyncProperty(policy, scope, async (entries, scopes) => {
        await setPolicy(entries);
        const found = await shown({ ...caller, scope: ['openid', ...scopes].join(' ') });
        for (const interaction of ['read', 'search'] as const) {
          const expected = new Map(
            [...stored].flatMap(([reference, resource]) => {
              const one = naive(entries, scopes, interaction, resource);
              return one ? [[reference, one] as const] : [];
            }),
          );
          expect(sorted(found[interaction])).toEqual(sorted(expected));
        }
        const whole = await shown({ ...caller, scope: 'openid' });
        for (const reference of found.read.keys()) expect(whole.read.has(reference)).toBe(true);
        for (const reference of found.search.keys()) expect(whole.search.has(reference)).toBe(true);
      }),
      { numRuns: casesOf(80) },
    );
  });

  test('lets an update store only what it may, and never what it may not see', async () => {
    const before = stored.get('Patient/p1') as Resource;
    await fc.assert(
      fc.asyncProperty(policy, scope, async (entries, scopes) => {
        await setPolicy(entries);
        const by = { ...caller, scope: ['openid', ...scopes].join(' ') };
        const body = { resourceType: 'Patient', id: 'p1', gender: 'male', multipleBirthBoolean: true };
        const write = { kind: 'update' as const, type: 'Patient', id: 'p1', body };
        const answer = await refusedAs(carryOut(stage.services, by, [write]));
        const readable = naive(entries, [], 'read', before);
        const mayWrite = entries.some(
          ({ resourceType, criteria: query, interaction, readonly }) =>
            ['Patient', '*'].includes(resourceType) &&
            readonly !== true &&
            (interaction?.includes('update') ?? true) &&
            (query === undefined || criteria[query.split('?')[1] ?? '']?.(before) === true),
        );
        if (!mayWrite) return expect(answer).toBe('forbidden');
        if (answer === 'forbidden') return;
        const [outcome] = answer as { resource: Resource }[];
        if (readable && readable.birthDate === undefined)
          expect(outcome?.resource.birthDate).toBe(before.birthDate);
        if (readable && readable.name === undefined) expect(outcome?.resource.name).toEqual(before.name);
        const { name, birthDate, gender } = before;
        const restore = { ...write, body: { resourceType: 'Patient', id: 'p1', name, birthDate, gender } };
        await carryOut(stage.services, { ...by, ...(await administrator()) }, [restore]);
      }),
      { numRuns: casesOf(80) },
    );
  });
});

/** A membership of the same Project that nothing narrows. */
async function administrator(): Promise<Pick<Caller, 'membershipId' | 'loginId' | 'scope'>> {
  const key = keys.login('administrator');
  if (!(await stage.services.table.read([key])).get(key)) {
    await newResource(stage, caller.project, {
      resourceType: 'ProjectMembership',
      id: 'administrator',
      active: true,
      admin: true,
      project: { reference: `Project/${caller.project}` },
      user: { reference: 'User/a' },
      profile: { reference: 'Practitioner/a' },
    });
    await stage.services.table.put({ ...key, membershipId: 'administrator' });
  }
  return { membershipId: 'administrator', loginId: 'administrator', scope: '' };
}

/** What a search costs in units, and what is found. */
async function costOf(query: string): Promise<{ units: number; found: number }> {
  const budget = newBudget();
  const services = { ...stage.services, table: meteredTable(stage.services.table, budget) };
  const { entry = [] } = await searchResources(services, caller, {
    ...{ type: 'Patient', query: new URLSearchParams(query) },
  });
  budget.require('items', 10_000 - budget.units + 0.1);
  return { units: budget.units, found: entry.length };
}

/** Who asks makes what is compared as dear as they like. */
const manyNames = `&name:contains=${Array(200).fill('q').join()}`.repeat(40);

test('a search costs the same whether a record that one may not see matches or not', async () => {
  const identifier = [{ system: 'urn:ssn', value: 'hidden' }];
  const name = [{ family: 'Guessed' }];
  const hidden = { resourceType: 'Patient', id: 'p4', identifier, name, active: true, gender: 'unknown' };
  await newResource(stage, caller.project, hidden);
  // One that may be seen has each of the names that are asked for: the hidden one makes a page full.
  for (const [id, family] of [
    ['d1', 'Guessed'],
    ['d2', 'Another'],
  ])
    await newResource(stage, caller.project, {
      ...{ resourceType: 'Patient', id, name: [{ family }] },
      gender: 'male',
    });
  // No index leads to what these criteria match.
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  for (const [hit, miss] of [
    ['identifier=hidden', 'identifier=nobody'],
    ['_id=p4&active=true', '_id=p4&active=false'],
    [`identifier=hidden${manyNames}`, `identifier=nobody${manyNames}`],
    ['name=guessed&_count=1', 'name=another&_count=1'],
  ] as const)
    expect(await costOf(hit)).toEqual(await costOf(miss));
});

test('neither the order of what is found nor the cursor tells of what one may not see', async () => {
  const birthDate = '1913-07-17';
  const newPatient = (id: string, more: object) =>
    newResource(stage, caller.project, { resourceType: 'Patient', id, ...more });
  const address = [{ city: 'Oracle' }];
  await newPatient('c1', { gender: 'male', address, birthDate: '1950-01-01' });
  await newPatient('c2', { gender: 'male', address, birthDate });
  await newPatient('c0', { gender: 'male', address, birthDate });
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  const query = new URLSearchParams({ 'address-city': 'oracle', birthdate: birthDate, _count: '1' });
  const asked = () => searchResources(stage.services, caller, { type: 'Patient', query });
  const { actor } = await admit(stage.services, caller, []);
  // As what is included is looked for.
  const { filters } = parseSearch('Patient', query, undefined);
  const source = async () => {
    const search = newSearch(readerOf(stage.services, actor), 'Patient', filters);
    for await (const { position } of findHits(search)) return position;
    return undefined;
  };
  const [before, from] = [await asked(), await source()];
  await newPatient('c3', { gender: 'unknown', birthDate });
  await newPatient('c4', { gender: 'unknown', birthDate });
  expect(before.entry).toHaveLength(1);
  expect(await asked()).toEqual(before);
  expect([from?.by, await source()]).toEqual(['turn', from]);
});

test.each([
  [
    'what the rule itself asks for',
    ['birthDate'],
    'Patient?birthdate=ge1700-01-01&birthdate=lt1750-01-01',
    {},
  ],
  ['what else a word is in a name', ['name.family'], undefined, { given: 'hiddenword' }],
])('a cursor does not tell %s', async (_, hiddenFields, criteria, asked) => {
  for (const nth of ['a', 'b'])
    await newResource(stage, caller.project, {
      ...{ resourceType: 'Patient', id: `${hiddenFields[0]}-${nth}`, birthDate: '1712-03-03' },
      name: [{ family: 'Hiddenword', given: ['Hiddenword', 'Ann'] }],
    });
  await setPolicy([{ resourceType: 'Patient', hiddenFields, ...(criteria ? { criteria } : {}) }]);
  const query = new URLSearchParams({ ...asked, _count: '1' });
  const { entry, link } = await searchResources(stage.services, caller, { type: 'Patient', query });
  expect(entry).toHaveLength(1);
  const next = new URL(String(link?.find(({ relation }) => relation === 'next')?.url));
  const cursor = Buffer.from(String(next.searchParams.get('_cursor')), 'base64url').toString();
  expect(cursor).not.toMatch(/1712|#fg#/);
  expect(JSON.parse(cursor)[1].position.by).toBe('walk');
});

test('where one condition leads to too many that one may not see, another one is tried', async () => {
  const { project } = caller;
  const birthDate = '1913-02-02';
  const name = [{ family: 'Crowd' }];
  await crowd(2500, 'crowd', { name, gender: 'unknown' });
  await newResource(stage, project, {
    resourceType: 'Patient',
    id: 'crowded',
    name,
    birthDate,
    gender: 'male',
  });
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  const found = (query: string) =>
    searchResources(stage.services, caller, { type: 'Patient', query: new URLSearchParams(query) });
  const { entry } = await found(`name=crowd&birthdate=${birthDate}`);
  expect(entry?.map(({ resource }) => resource && 'id' in resource && resource.id)).toEqual(['crowded']);
  // Trying again costs nothing more: it would tell of the crowd.
  const alone = await costOf(`_id=crowded&birthdate=${birthDate}`);
  expect(await costOf(`name=crowd&birthdate=${birthDate}`)).toEqual(alone);
  await expect(found('name=crowd')).rejects.toMatchObject({ kind: 'too-costly' });
});

test('rules that lead to too many places are asked of each resource instead', async () => {
  await newResource(stage, caller.project, { resourceType: 'Encounter', id: 'ruled', ...encounter });
  const absent = Array.from({ length: 20 }, (_, nth) =>
    Array.from({ length: 100 }, (_, n) => `absent${nth}-${n}`),
  );
  const criteria = [['ruled'], ...absent].map((ids) => `Encounter?_id=${ids}`);
  await setPolicy(criteria.map((one) => ({ resourceType: 'Encounter', criteria: one })));
  const { entry } = await searchResources(stage.services, caller, {
    type: 'Encounter',
    query: new URLSearchParams(),
  });
  expect(entry?.map(({ resource }) => resource && 'id' in resource && resource.id)).toEqual(['ruled']);
});

test('a scope for one patient does not tell whose a record is where that may not be seen', async () => {
  const { project } = caller;
  await newResource(stage, project, {
    ...{ resourceType: 'Binary', id: 'part', contentType: 'text/plain', data: 'eA==' },
    securityContext: { reference: 'Observation/o1' },
  });
  const found = async (rules: Entry[]) => {
    await setPolicy(rules);
    const { read } = await shown({ ...caller, scope: 'openid patient/Observation.rs' });
    const by = { ...caller, scope: 'openid user/Observation.rs patient/Binary.rs' };
    const binary = await refusedAs(readResource(stage.services, by, { type: 'Binary', id: 'part' }));
    return [[...read.keys()], binary === 'forbidden'];
  };
  const whole = [{ resourceType: 'Observation' }, { resourceType: 'Binary' }];
  const hiding = [{ resourceType: 'Observation', hiddenFields: ['subject'] }, { resourceType: 'Binary' }];
  expect(await found(whole)).toEqual([['Observation/o1', 'Observation/o2'], false]);
  expect(await found(hiding)).toEqual([['Observation/o2'], true]);
});

/** Patients of nobody else that a Project has, written at once. */
async function crowd(count: number, name: string, fields: object): Promise<void> {
  const { project } = caller;
  const records = Array.from({ length: count }, (_, n) => {
    const meta = { versionId: `v${n}`, lastUpdated: new Date(stage.services.now()).toISOString(), project };
    const { head, state, index } = createChange(project, {
      ...{ resourceType: 'Patient', id: `${name}${n}`, meta },
      ...fields,
    });
    const action = head(false);
    return [...('put' in action ? [action.put] : []), ...state, ...index];
  });
  await stage.services.table.write(records.flat());
}

test('a page that ends behind what one may not see does not name it, and the next goes on there', async () => {
  const subject = { reference: 'Patient/p1' };
  await crowd(2000, 'passed', { resourceType: 'Observation', ...observation, status: 'amended', subject });
  await newResource(stage, caller.project, {
    ...{ resourceType: 'Observation', id: 'zlast', ...observation, subject },
  });
  await setPolicy([
    { resourceType: 'Patient' },
    { resourceType: 'Observation', criteria: 'Observation?status=final' },
  ]);
  const services = { ...stage.services, runTokenKeys: ringOf(new Uint8Array(32)) };
  const query = new URLSearchParams('_type=Observation');
  const pageOf = async () => {
    const { entry, link } = await readEverything(services, caller, { id: 'p1', query });
    const { url = '' } = link?.find(({ relation }) => relation === 'next') ?? {};
    return { entry, cursor: new URLSearchParams(url.split('?')[1]).get('_cursor') };
  };
  const hasEnded = new Set<boolean>();
  for (let n = 0; n < 30 && hasEnded.size < 2; n++) {
    const { cursor } = await pageOf();
    // As many as are passed over on average: by an exact bound who comes up to it would learn of one more.
    hasEnded.add(cursor === null);
    if (cursor === null) continue;
    const [, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    expect(Object.keys(position)).toEqual(['sealed']);
    query.set('_cursor', cursor);
    const { entry = [], cursor: last } = await pageOf();
    expect(entry.map(({ resource }) => resource && 'id' in resource && resource.id)).toContain('zlast');
    expect(last).toBeNull();
    query.delete('_cursor');
  }
  expect(hasEnded.size).toBe(2);
  query.set('_cursor', 'WyJ4Iix7InNlYWxlZCI6InkifV0');
  await expect(pageOf()).rejects.toMatchObject({ kind: 'invalid' });
});

describe('whoever comes up to a bound with records of their own learns of no one more', () => {
  const [own, guess] = ['1912-03-03', '1957-03-14'];
  const answerTo = async (query: string) => {
    const { entry = [], total } = await searchResources(stage.services, caller, {
      ...{ type: 'Patient', query: new URLSearchParams(query) },
    });
    return { found: entry.length, total };
  };
  const male = { resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' };

  beforeAll(async () => {
    // As many as are opened on average: by an exact bound the next one is always too many.
    await crowd(2000, 'own', { birthDate: own, gender: 'unknown' });
    await newResource(stage, caller.project, {
      ...{ resourceType: 'Patient', id: 'guessed', gender: 'unknown', birthDate: guess },
    });
  });

  test.each(['', '&_sort=_id'])('for it is another each time: birthdate=…%s', async (control) => {
    await setPolicy([male]);
    const answers = new Set<unknown>();
    for (let n = 0; n < 30 && answers.size < 2; n++) {
      const { found } = await answerTo(`birthdate=${own},${guess}${control}`).catch(({ kind }: Refusal) => ({
        found: kind,
      }));
      answers.add(found);
    }
    expect(answers).toEqual(new Set([0, 'too-costly']));
  });

  test.each([
    // More than an exact bound allows.
    ['&_sort=_id&_count=1&_total=accurate', '1912-04-20', 1100],
    ['&_count=1&_total=estimate', '1912-04-14', 700],
  ])('nor is it so near that one comes up to it for little: birthdate=…%s', async (control, shown, bound) => {
    await crowd(bound, `shown${bound}-`, { birthDate: shown, gender: 'male' });
    await setPolicy([male]);
    const { found, total } = await answerTo(`birthdate=${shown},${guess}${control}`);
    expect([found, total]).toEqual([1, bound]);
  });
});

test('neither many links nor long scopes make what one may not see cost more than it is blurred by', async () => {
  const birthDate = '1931-07-13';
  const hidden = { resourceType: 'Patient', id: 'hidden-birth', gender: 'female', birthDate };
  await newResource(stage, caller.project, hidden);
  const long = Array.from({ length: 12 }, (_, n) => `user/Patient.rs?_id=${n},${Array(195).fill('a')}`);
  let by = caller;
  const unitsFor = async (date: string) => {
    const query = new URLSearchParams(Array(49).fill(['subject:Patient.birthdate', date]));
    const spent: number[] = [];
    const budget = newBudget();
    const untold = () => {
      const own = budget.untold();
      const spend: typeof own.spend = (cost, amount) => {
        own.spend(cost, amount);
        spent.push(amount);
      };
      return { ...own, spend };
    };
    const services = { ...stage.services, table: meteredTable(stage.services.table, { ...budget, untold }) };
    await searchResources(services, by, { type: 'Observation', query });
    return spent.length;
  };
  // By policies an element, then by scopes the record.
  for (const [hiddenFields, scope] of [
    [['birthDate'], 'user/*.rs'],
    [['name'], 'user/Observation.rs user/Patient.rs?gender=male'],
  ] as const) {
    await setPolicy([
      { resourceType: 'Patient', criteria: 'Patient?gender:not=female' },
      { resourceType: 'Patient', criteria: 'Patient?gender=female', hiddenFields: [...hiddenFields] },
      { resourceType: 'Observation' },
    ]);
    by = { ...caller, scope: ['openid', scope, ...long].join(' ') };
    const [hit, miss] = [await unitsFor(birthDate), await unitsFor('1931-07-12')];
    expect(hit - miss).toBeLessThan(15);
  }
});

test('the rules of a policy are read before anything is found, and paid for by who asks', async () => {
  const costUnder = async (count: number) => {
    const rule = (n: number) => ({ resourceType: 'Patient', criteria: `Patient?_id=rule${n}` });
    await setPolicy(Array.from({ length: count }, (_, n) => rule(n)));
    return (await costOf('identifier=of-nobody')).units;
  };
  expect((await costUnder(200)) - (await costUnder(1))).toBeGreaterThan(20);
});

test('in whose name a record is asked for is asked first, and rules written for others cost nothing of what they do not see', async () => {
  const under = async (rules: Entry[]) => {
    await setPolicy(rules);
    return (await admit(stage.services, caller, [])).actor;
  };
  const asker = await under([{ resourceType: 'Patient', criteria: 'Patient?gender=male' }]);
  const member = await under([{ resourceType: 'Patient', criteria: 'Patient?_id=p1,p2' }]);
  let asked = 0;
  const spend = () => {
    asked += 1;
  };
  const together = { ...member, budget: { ...member.budget, spend }, within: [asker] };
  const hiddenOf = (reference: string) =>
    hiddenByPolicies(together, 'search', stored.get(reference) as Resource, () => false);
  expect([await hiddenOf('Patient/p2'), asked]).toEqual([undefined, 0]);
  expect(await hiddenOf('Patient/p1')).toEqual([]);
  expect(asked).toBeGreaterThan(0);
});

test('where a search in an order begins does not tell of what one may not see', async () => {
  const at = (start: string, end = start) => ({ location: { display: 'x' }, period: { start, end } });
  const newEncounter = (id: string, code: string, location: object[]) =>
    newResource(stage, caller.project, {
      resourceType: 'Encounter',
      id,
      ...encounter,
      class: { code },
      location,
    });
  await newEncounter('w1', 'AMB', [at('1900-01-02'), at('2099-02-02')]);
  await newEncounter('w2', 'AMB', [at('2099-01-01')]);
  await setPolicy([{ resourceType: 'Encounter', criteria: 'Encounter?class=AMB' }]);
  const { actor } = await admit(stage.services, caller, []);
  const query = new URLSearchParams('location-period=ge2050-01-01&_sort=location-period');
  const { filters, sort } = parseSearch('Encounter', query, undefined);
  const found = async () => {
    const search = newSearch(readerOf(stage.services, actor), 'Encounter', filters, { sort });
    const hits: string[] = [];
    // As on a later page of more than are put in order in memory.
    for await (const { resource } of findHits(search, { by: 'walk', sk: '0' })) hits.push(resource.id);
    return hits;
  };
  expect(await found()).toEqual(['w2', 'w1']);
  await newEncounter('w3', 'IMP', [at('2060-03-01', '2071-06-17')]);
  expect(await found()).toEqual(['w2', 'w1']);
  // What they are shown is found wherever it begins.
  await newEncounter('w4', 'AMB', [at('2040-03-01', '2071-06-17')]);
  expect(await found()).toEqual(['w1', 'w4', 'w2']);
});

test('the bound of the values of a resource does not tell whether one is among the hidden ones', async () => {
  const entity = (n: number) => ({ entity: { reference: `Patient/m${n}` } });
  const member = Array.from({ length: 1500 }, (_, n) => entity(n));
  const group = { resourceType: 'Group', type: 'person', actual: true };
  const [made] = await carryOut(stage.services, { ...caller, ...(await administrator()) }, [
    { kind: 'create', type: 'Group', body: { ...group, member } },
  ]);
  const id = made?.resource?.id ?? '';
  await setPolicy([{ resourceType: 'Group', hiddenFields: ['member'] }]);
  const put = async (values: number, guess: string) => {
    const identifier = Array.from({ length: values }, (_, n) => ({ value: `v${n}` }));
    const extension = [{ url: 'urn:x', valueReference: { reference: guess } }];
    const body = { ...group, id, identifier, extension };
    const written = carryOut(stage.services, caller, [{ kind: 'update', type: 'Group', id, body }]);
    return written.then(
      () => true,
      () => false,
    );
  };
  let [fits, most] = [1, 1990];
  while (most - fits > 1) {
    const values = (fits + most) >> 1;
    if (await put(values, 'Patient/nobody')) fits = values;
    else most = values;
  }
  expect(fits).toBeGreaterThan(900);
  for (const values of [fits, fits + 1])
    expect(await put(values, 'Patient/m7')).toBe(await put(values, 'Patient/nobody'));
});

test('nor does it cost another number when it is the searched element that one may not see', async () => {
  const identifier = [{ system: 'urn:ssn', value: 'part' }];
  await newResource(stage, caller.project, {
    resourceType: 'Patient',
    id: 'p5',
    identifier,
    gender: 'other',
  });
  await setPolicy([
    { resourceType: 'Patient', criteria: 'Patient?gender:not=other' },
    { resourceType: 'Patient', criteria: 'Patient?gender=other', hiddenFields: ['identifier'] },
  ]);
  expect((await costOf('_id=p5')).found).toBe(1);
  const [hit, miss] = [`identifier=part${manyNames}`, `identifier=nobody${manyNames}`];
  expect(await costOf(hit)).toEqual(await costOf(miss));
});

test.each<[string, (services: Stage['services'], id: string) => Promise<unknown>]>([
  ['a read', (services, id) => readResource(services, caller, { type: 'Patient', id })],
  [
    'a history',
    (services, id) => readHistory(services, caller, { type: 'Patient', id, query: new URLSearchParams() }),
  ],
  [
    'an update',
    (services, id) => {
      const body = { resourceType: 'Patient', id, gender: 'male' };
      return carryOut(services, caller, [{ kind: 'update', type: 'Patient', id, body }]);
    },
  ],
])('%s costs the same however long a record is that one may not see', async (_what, work) => {
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  const costOfRefused = async (length: number) => {
    const id = randomUUID();
    const name = [{ text: 'x'.repeat(length) }];
    await newResource(stage, caller.project, { resourceType: 'Patient', id, name, gender: 'unknown' });
    const budget = newBudget();
    const services = { ...stage.services, table: meteredTable(stage.services.table, budget) };
    await expect(work(services, id)).rejects.toMatchObject({ kind: 'forbidden' });
    return budget.units;
  };
  expect(await costOfRefused(1)).toBe(await costOfRefused(100_000));
});

test('what may be seen is compared when that is paid for', async () => {
  const long = {
    resourceType: 'Patient',
    id: 'long',
    gender: 'male',
    name: [{ family: 'a'.repeat(200_000) }],
  };
  await newResource(stage, caller.project, long);
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  const searched = Array.from({ length: 20 }, (_, n) => `${'a'.repeat(n)}b${'a'.repeat(900)}`).join();
  await expect(costOf(`_id=long&name:contains=${searched}`)).rejects.toMatchObject({ kind: 'too-costly' });
});

test('nor by how much of a record that is which one may not see', async () => {
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender=other', hiddenFields: ['address'] }]);
  const costWith = async (length: number) => {
    const id = randomUUID();
    const address = [{ text: 'x'.repeat(length) }];
    await newResource(stage, caller.project, { resourceType: 'Patient', id, address, gender: 'other' });
    return costOf(`_id=${id}`);
  };
  const [short, long] = [await costWith(1), await costWith(100_000)];
  expect(short.found).toBe(1);
  expect(long).toEqual(short);
});

test('what may be seen costs what it holds', async () => {
  await setPolicy([{ resourceType: 'Patient', criteria: 'Patient?gender:not=unknown' }]);
  const [one, none] = [await costOf('_id=p1'), await costOf('_id=nobody')];
  expect([one.found, none.found]).toEqual([1, 0]);
  expect(one.units).toBeGreaterThan(none.units + 1);
});

test('criteria of many alternatives draw on a budget as the record is long that they look at', async () => {
  const criterion = (alternatives: number) => ({ filters: [], alternatives });
  const record = (length: number) => ({
    resourceType: 'Patient',
    id: 'x',
    meta: { versionId: '1', lastUpdated: '2020-01-01T00:00:00Z' },
    name: [{ text: 'x'.repeat(length) }],
  });
  expect(comparisonsOf(criterion(20), record(100_000))).toBe(comparisonsOf(criterion(20), record(1)));
  expect(comparisonsOf(criterion(120), record(100_000))).toBeGreaterThan(100 * (100_000 / 50));
});

test('criteria that come to be longer than a policy grant nothing', async () => {
  const subject = { profile: 'Practitioner/x', membership: { profile: { reference: 'Practitioner/x' } } };
  const meta = { versionId: '1', lastUpdated: '2020-01-01T00:00:00Z' };
  const criteria = `Patient?name=${Array(200).fill('%a').join()}`;
  const entries = [{ resourceType: 'Patient', criteria }];
  const policy: Resource = { resourceType: 'AccessPolicy', id: 'p', meta, resource: entries };
  const rulesOf = (valueString: string) =>
    policyRules(subject, [{ policy, parameters: [{ name: 'a', valueString }] }]).length;
  expect([rulesOf('x'.repeat(300)), rulesOf('x'.repeat(330))]).toEqual([1, 0]);
});
