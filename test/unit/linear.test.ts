import { expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { readQuery } from '../../shared/base/schema.ts';
import { traceBack } from '../../shared/bots/run/carry-out-run.ts';
import { maskOf } from '../../shared/bots/sandbox/run-log.ts';
import { parseMediaType } from '../../shared/carry/http/request.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { normaliseAddress } from '../../shared/identity/mail/address.ts';
import type { Rule } from '../../shared/identity/policies/parse-policy.ts';
import { criterionOf, matchesRule } from '../../shared/identity/policies/rules.ts';
import { normalisePassword } from '../../shared/identity/sign-in/password.ts';
import { parseExport } from '../../shared/records/export/begin-export.ts';
import { parseHeader } from '../../shared/records/subscriptions/subscription.ts';
import { keepFields } from '../../shared/store/fhir/fields.ts';
import { beginPatch } from '../../shared/store/fhir/json-patch.ts';
import { patchOperations } from '../../shared/store/fhir/path-patch.ts';
import { normaliseText } from '../../shared/store/index/value.ts';
import { matchesAll, parseFilter } from '../../shared/store/search/filter.ts';
import { parseExpression } from '../../shared/store/search/filter-expression.ts';
import { sourcesOf } from '../../shared/store/search/find-hits.ts';
import { parseSearch } from '../../shared/store/search/search-request.ts';
import { cpuMsOf, slowness } from '../setup/slowness.ts';

/** What takes the square of its length takes minutes for this. */
const length = 400_000;
const mostMs = 300;
const slower = slowness();

const refused = (work: () => unknown) => () => {
  try {
    work();
  } catch {}
};

/** Of four classes by turns, which a normalised text has in another order. */
const marks = '\u0315\u0300\u05ae\u0301'.repeat(length / 4);
const timing = {
  ...{
    resourceType: 'ServiceRequest',
    id: 'x',
    meta: { versionId: '1', lastUpdated: '2020-01-01T00:00:00Z' },
  },
  occurrenceTiming: { event: Array.from({ length: 4000 }, (_, n) => new Date(n * 1e9).toISOString()) },
};
const [dated] = parseFilter('ServiceRequest', 'occurrence', Array(200).fill('1900-01-01').join());

/** A record of many values, and as many conditions on them as a form may have. */
const asked = (type: string, name: string, value: string, members: object) => {
  const [one] = parseFilter(type, name, value);
  const resource = { resourceType: type, id: 'x', meta: { versionId: '1', lastUpdated: '2020' }, ...members };
  return () => Array.from({ length: 200 }, () => one?.matches(resource));
};
const many = <T>(entry: T, count = 5000) => Array<T>(count).fill(entry);
const secrets = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => {
    const value = `${'a'.repeat(4000)}b${n}${'a'.repeat(4000)}`;
    return [`${n}`, { name: `${n}`, valueString: value }];
  }),
);
const rows = `a${marks.slice(0, 99)}`.repeat(length / 100);

const parts = {
  members: Array.from({ length: length / 20 }, () => ({
    name: 'extension',
    value: { type: 'String', value: 'a' },
  })),
};
const [token] = parseFilter('Patient', 'identifier', Array.from({ length: 200 }, (_, n) => `q${n}`).join());
const at = { index: 'identifier', bucket: 'x' };
const items = Array.from({ length: length / 20 }, (_, n): [typeof at, string] => [at, `x${n}#id`]);

const phrases = '\ufdfa'.repeat(length);
const members = Object.fromEntries(Array.from({ length: 58_000 }, (_, n) => [3_000_000_000 + 17 * n, 1]));
function patching() {
  const begun = beginPatch({ members }, () => {});
  for (let n = 0; n < 500; n++) begun.apply({ op: 'remove', path: `/members/${3_000_000_000 + 17 * n}` });
  return begun;
}
const removals = { op: 'remove', path: '/members' };

test.each<[string, () => unknown]>([
  [
    'spaces after a _filter',
    refused(() => parseExpression('Patient', `${'a '.repeat(200)}${' '.repeat(length)}`)),
  ],
  ['a _filter of many words', refused(() => parseExpression('Patient', 'a '.repeat(length)))],
  ['a stack', () => traceBack([])('a'.repeat(length), 'bot.js')],
  ['a charset', () => parseMediaType(`text/plain;charset=${' '.repeat(length)}a b`)],
  [
    'headers of a Subscription',
    () => Array.from({ length: 1000 }, () => parseHeader(`a:${' '.repeat(3990)}\u007f`)),
  ],
  [
    'an instant',
    refused(() => parseExport(new URLSearchParams({ _since: 'T'.repeat(length) }), 'respond-async', 0)),
  ],
  ['combining marks in a name', () => normaliseText(`a${marks}`)],
  ['rows of marks in a name', () => normaliseText(rows)],
  ['rows of marks in an address', () => normaliseAddress(`${rows}@example.com`)],
  ['rows of marks in a password', () => normalisePassword(rows)],
  ['combining marks in an address', () => normaliseAddress(`a${marks}@example.com`)],
  ['combining marks in a password', () => normalisePassword(`a${marks}`)],
  ['a Timing of many dates, and many that it is asked for', () => dated?.matches(timing)],
  [
    'conditions on a Timing of many dates',
    asked('ServiceRequest', 'occurrence', 'ge1900', { occurrenceTiming: { event: many('2020-01-01') } }),
  ],
  ['conditions on addresses', asked('Patient', 'address:exact', 'z', { address: many({ city: 'a' }) })],
  ['conditions on codes', asked('Observation', 'code:not', 'z', { code: { coding: many({ code: 'a' }) } })],
  [
    'conditions on references',
    asked('Observation', 'has-member', 'z', { hasMember: many({ reference: 'Observation/a' }) }),
  ],
  [
    'conditions on components',
    asked('Observation', 'component-code-value-quantity', 'c$5', { component: many({}, 3000) }),
  ],
  [
    'a URI and many that it may be below',
    () => {
      const roots = Array.from({ length: 200 }, (_, n) => `${n}${'z'.repeat(900)}`).join();
      const [below] = parseFilter('Basic', '_profile:below', roots);
      return below?.matches({
        ...{ resourceType: 'Basic', id: 'x' },
        meta: { versionId: '1', lastUpdated: '2020', profile: many('a', 30_000) },
      });
    },
  ],
  [
    'bounds of one date',
    () => {
      const [one] = parseFilter('Patient', 'birthdate', 'ge1900');
      return sourcesOf(one ? Array(1000).fill(one) : []);
    },
  ],
  ['secrets that a line of a log nearly holds', () => maskOf(secrets)('a'.repeat(65_536))],
  ['phrases of one character in a name', () => Array.from({ length: 50 }, () => normaliseText(phrases))],
  ['phrases of one character in an address', () => normaliseAddress(`${phrases}@example.com`)],
  ['members that are removed from among many', () => patching().apply(removals)],
  ['many parameters of a form', refused(() => readQuery('a&'.repeat(length)))],
  [
    'a value of many parts in a FHIRPath Patch',
    () =>
      patchOperations({}, 'Basic', { type: 'add', path: 'Basic', name: 'subject', value: parts }, () => {}),
  ],
  [
    'index items that each of many alternatives may prove',
    () => items.filter(([at, sort]) => token?.proves?.(at, sort)),
  ],
])('%s cost no more than in proportion to their length', (_, work) => {
  const most = mostMs * slower;
  // The first time may pay for the garbage of the one before.
  if (cpuMsOf(work) > most) expect(cpuMsOf(work)).toBeLessThan(most);
});

test('the clock is asked before each look at the values of a parameter', () => {
  const filters = parseExpression('Patient', 'not (name eq a or name eq b) and birthdate ge 1900');
  let steps = 0;
  const resource = { resourceType: 'Patient', id: 'x', meta: { versionId: '1', lastUpdated: '2020' } };
  matchesAll(resource, filters, () => steps++);
  expect(steps).toBe(3);
});

test('and so it is for the criteria of a policy', async () => {
  const rule: Rule = {
    ...{ resourceType: 'Patient', criteria: 'Patient?gender=female&birthdate=ge1900&name=a' },
    ...{ interactions: new Set(['read'] as const), hiddenFields: [], readonlyFields: [] },
  };
  const resource: Resource = {
    ...{ resourceType: 'Patient', id: 'x', meta: { versionId: '1', lastUpdated: '2020' } },
    ...{ gender: 'female', birthDate: '2000-01-01', name: [{ family: 'a' }] },
  };
  const criterion = await criterionOf(rule, 'Patient', newBudget());
  let asked = 0;
  const budget = { require: () => void asked++ };
  expect(await matchesRule(rule, criterion, resource, budget)).toBe(true);
  expect(asked).toBe(3);
});

test('the path of a patch draws on the budget for each element that it looks at', async () => {
  const extension = Array.from({ length: 5000 }, () => ({ url: 'u', valueString: 'x' }));
  const path = `Patient.extension${".where(url='u')".repeat(20)}.where(url='z')`;
  const budget = newBudget();
  await patchOperations({ extension }, 'Patient', { type: 'delete', path }, (elements) =>
    budget.spend('comparisons', elements),
  );
  expect(budget.spent.comparisons).toBeGreaterThan(20 * 5000);
});

test('what the path of a patch asks for draws on the budget for all that its names lead to', async () => {
  const given = Array.from({ length: 5000 }, () => ({ id: 'x', extension: [{ url: 'u' }] }));
  const path = "Patient.where(contact.extension.url='z')";
  const spend = { elements: 0 };
  await patchOperations({ contact: given }, 'Patient', { type: 'delete', path }, (elements) => {
    spend.elements += elements;
  });
  expect(spend.elements).toBeGreaterThan(3 * 5000);
});

test('a JSON Patch draws on the budget for each value that it moves', () => {
  let values = 0;
  const patching = beginPatch({ a: Array.from({ length: 1000 }, () => []) }, (some) => {
    values += some;
  });
  patching.apply({ op: 'move', from: '/a', path: '/b' });
  patching.apply({ op: 'move', from: '/b', path: '/a' });
  expect(values).toBeGreaterThanOrEqual(2 * 1001);
});

test('each operation of a JSON Patch draws on the budget', () => {
  let values = 0;
  const begun = beginPatch({ a: 1 }, (some) => {
    values += some;
  });
  begun.apply({ op: 'test', path: '/a', value: 1 });
  begun.apply({ op: 'remove', path: '/a' });
  expect(values).toBe(2);
});

test('a value of many parts draws on the budget for each', async () => {
  let elements = 0;
  await patchOperations(
    {},
    'Basic',
    { type: 'add', path: 'Basic', name: 'subject', value: parts },
    (some) => {
      elements += some;
    },
  );
  expect(elements).toBeGreaterThanOrEqual(parts.members.length);
});

test.each(['identifier=a,b,c', '_filter=name eq a'])('the values of %s draw on the budget', (text) => {
  const budget = newBudget();
  parseSearch('Patient', new URLSearchParams(text), budget);
  expect(budget.spent.comparisons).toBe(150);
});

test('what is looked for anywhere in a text draws on the budget by its length', () => {
  const [short, long] = ['smith', 'x'.repeat(900)].map(
    (text) => parseFilter('Patient', 'name:contains', text)[0],
  );
  expect(short?.alternatives).toBe(1);
  expect(long?.alternatives).toBeGreaterThanOrEqual(100);
});

test('a long text is not cut within a character', () => {
  const texts = [9_998, 9_999, 10_000].map((count) => normaliseText(`${'a'.repeat(count)}\u{1f600}`));
  expect(texts.map((text) => text.isWellFormed())).toEqual([true, true, true]);
});

test('elements that are kept draw on the budget for each entry of a list, once a path', () => {
  const photos = { photo: Array.from({ length: 1000 }, () => ({ title: 'a' })) };
  let entries = 0;
  keepFields(photos, photos, ['photo.url', 'photo.size', 'name'], {
    spend(some) {
      entries += some;
    },
  });
  expect(entries).toBe(2 * 2 * 1000);
});
