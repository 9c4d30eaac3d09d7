import { expect, test } from '@jest/globals';
import { traceBack } from '../../shared/bots/run/carry-out-run.ts';
import { parseMediaType } from '../../shared/carry/http/request.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { normaliseAddress } from '../../shared/identity/mail/address.ts';
import { normalisePassword } from '../../shared/identity/sign-in/password.ts';
import { parseExport } from '../../shared/records/export/begin-export.ts';
import { parseHeader } from '../../shared/records/subscriptions/subscription.ts';
import { keepFields } from '../../shared/store/fhir/fields.ts';
import { patchOperations } from '../../shared/store/fhir/path-patch.ts';
import { normaliseText } from '../../shared/store/index/value.ts';
import { parseFilter } from '../../shared/store/search/filter.ts';
import { parseExpression } from '../../shared/store/search/filter-expression.ts';
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
const rows = `a${marks.slice(0, 99)}`.repeat(length / 100);

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
])('%s cost no more than in proportion to their length', (_, work) => {
  const most = mostMs * slower;
  // The first time may pay for the garbage of the one before.
  if (cpuMsOf(work) > most) expect(cpuMsOf(work)).toBeLessThan(most);
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
