import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { routeThrottles, stageThrottle } from '../../infra/constructs/public-api.ts';
import { queues } from '../../infra/queues.ts';
import { settings as stageSettings } from '../../infra/stage.ts';
import { streamReading } from '../../infra/table-definition.ts';
import * as limits from '../../shared/base/limits.ts';
import { profileTypes } from '../../shared/base/resource.ts';
import { typedKeys } from '../../shared/base/values.ts';
import { settingEntries } from '../../shared/bots/bot/settings.ts';
import { inputTypes } from '../../shared/bots/run/contract.ts';
import {
  executionsOf,
  functionShares,
  leastToShare,
  type Owner,
  shareOf,
} from '../../shared/carry/shares.ts';
import { requestCpuMs } from '../../shared/carry/table/budget.ts';
import { rightsEntries } from '../../shared/identity/invitations/parse-rights.ts';
import { invitationStates } from '../../shared/identity/invitations/states.ts';
import { settingBounds, settingDefaults } from '../../shared/identity/projects/settings.ts';
import { mostOfProject } from '../../shared/records/subscriptions/deliver/steps.ts';
import { modifiers } from '../../shared/store/index/registry.ts';

const root = resolve(import.meta.dirname, '../..');
const textOf = (name: string) => readFileSync(resolve(root, 'docs', name), 'utf8');

const code = (name: string) => `\`${name}\``;
const number = (value = 0) => value.toLocaleString('en');
const stage = { accountConcurrency: 1_000 };

/** A text breaks its lines where it will. */
const pattern = (phrase: string) => phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');

/** Whether a text says it as it stands here, and not as the beginning or the end of another number or word. */
function says(text: string, phrase: string): boolean {
  const [before, after] = [
    /^\w/.test(phrase) ? '(?<![\\w.,])' : '',
    /\w$/.test(phrase) ? '(?!\\w|[.,]\\d)' : '',
  ];
  return new RegExp(`${before}${pattern(phrase)}${after}`).test(text);
}

/** What the API takes and answers, by the page of docs/ that lists it, as it stands there. */
test.each<[page: string, what: string, names: readonly string[]]>([
  ['bots.md', 'content type', Object.values(inputTypes).map(code)],
  ['bots.md', 'setting of a Bot', Object.keys(settingEntries).map(code)],
  ['identity.md', 'right of a member', Object.keys(rightsEntries).map(code)],
  ['identity.md', 'state of an invitation', invitationStates.map(code)],
  ['access-policies.md', 'type of profile', profileTypes.map((type) => `| ${type}`)],
  [
    'search.md',
    'modifier of a search',
    Object.values(modifiers).flatMap((of) => of.map((name) => code(`:${name}`))),
  ],
  ['deploy.md', 'setting of a stage', Object.keys(stageSettings.entries).map((name) => `| ${code(name)} |`)],
  [
    'deploy.md',
    'queue whose messages are not given up after five deliveries',
    Object.entries(queues).flatMap(([name, { mostReceives }]) =>
      mostReceives === 5 ? [] : [`${mostReceives.toLocaleString('en')} of ${name}`],
    ),
  ],
  [
    'operate.md',
    'share of the concurrency',
    [
      `${code('token')}, ${code('login')} and ${code('account')} ${functionShares.token.percent} % each`,
      `${code('members')} ${functionShares.members.percent} %`,
      `execute ${functionShares['execute-by-id'].percent} % each`,
      `${code('jobs')} ${functionShares.jobs.percent} %`,
    ],
  ],
  [
    'operate.md',
    'throttle of a route',
    [
      `${number(stageThrottle.rate)} requests a second of a stage`,
      `execute takes at most ${number(routeThrottles['execute-by-id']?.rate)}`,
      `of ${code('token')} and ${code('login')} ${number(routeThrottles.login?.rate)}`,
      `${code('bots')} ${routeThrottles.bots?.rate} (`,
    ],
  ],
])('docs/%s names every %s', (page, _what, names) => {
  const text = textOf(page);
  expect(names.filter((name) => !says(text, name))).toEqual([]);
});

test('what is said of one number is not taken for another', () => {
  expect(says('| mail | 1 × 20 | 400 |', '| mail | 1 × 2')).toBe(false);
  expect(says('at most 1,000 rows', '000 rows')).toBe(false);
  expect(says('at most 20.5 s', '20')).toBe(false);
  expect(says('at most\n20 s, then', 'at most 20 s')).toBe(true);
});

/** The value of a constant, as its file has it. */
function constant(file: string, name: string): number {
  const [, value = ''] =
    new RegExp(`(?:\\b${name}(?:: \\w+)? =|\\b${name}:) ([^;,\\n]+)`).exec(
      readFileSync(resolve(root, file), 'utf8'),
    ) ?? [];
  const factors = value.split('*').map((factor) => {
    const [, above, below = '1'] = /^ *([\d_.]+)(?: \/ ([\d_]+))? *$/.exec(factor) ?? [];
    return Number(above?.replaceAll('_', '')) / Number(below.replaceAll('_', ''));
  });
  const product = factors.reduce((all, factor) => all * factor, 1);
  if (!(product > 0)) throw new Error(`${file} has no number ${name}`);
  return product;
}

const seconds = (file: string, name: string) => constant(file, name) / 1000;
const price = (cost: string) => constant('shared/carry/table/budget.ts', cost);
const perUnit = Math.round(1 / price('comparisons'));
const filter = (name: string) => number(constant('shared/store/search/filter.ts', name));
const attemptMinutes = constant('shared/identity/sign-in/attempts.ts', 'windowMs') / 60_000;
const words: Record<number, string> = { 20: 'twenty', 60: 'sixty' };
const claims = 'shared/identity/gate/claim.ts';
const [retries, queueRows] = [streamReading.retryAttempts, Object.entries(queues)];

/** Every figure of these pages: as our code has it, or else by whom it is held. */
const figures: Record<string, { ours: string[]; others: [what: RegExp, heldBy: string][] }> = {
  'limits.md': {
    ours: [
      `| body, decoded | ${limits.longestBodyBytes / 1024 ** 2} MiB |`,
      `| JSON depth | ${limits.deepestJson} |`,
      `| ${number(limits.mostJsonValues)} | 400 ${code('too-costly')} |`,
      `| a resource | ${limits.longestBodyBytes / 1024 ** 2} MiB; what is seen of it, by whoever changes it and does not see all, ${limits.longestBodyBytes / 2 / 1024 ** 2} MiB |`,
      `| ${limits.longestInlineBytes / 1024} KB | 422 |`,
      `| values of a resource that searches look at | ${number(limits.mostIndexItems)}; of what is seen ${number(limits.mostIndexItems / 2)} |`,
      `| ${limits.mostTransactionWrites} changes, ${limits.mostTransactionConditions} conditional references`,
      `| ${limits.mostBatchEntries} entries; none is begun after ${seconds('shared/records/bundle/run-bundle.ts', 'beginsWithinMs')} s |`,
      `${constant('shared/store/search/search-request.ts', 'mostConditions')} conditions of ${filter('mostAlternatives')} alternatives (${code('_id')}: ${filter('mostIds')}), values of ${number(limits.longestSearchValue)} characters, ${constant('shared/store/index/text.ts', 'mostWords')} words of a name, ${constant('shared/store/search/filter-expression.ts', 'mostTokens')} words in`,
      `${number(constant('shared/records/export/go-on.ts', 'mostFiles'))} files of ${constant('shared/records/export/go-on.ts', 'mostFileBytes') / 1e6} MB`,
      `| ${number(constant('shared/store/search/search-request.ts', 'mostCount'))} entries, ${constant('shared/records/read/history.ts', 'mostCount')} of a history; at most some ${limits.mostEntryBytes / 1e6} MB`,
      `one budget of ${number(constant('shared/carry/table/budget.ts', 'requestUnits'))} units`,
      `A batch has ${constant('shared/records/bundle/run-bundle.ts', 'changeUnits')} for each of its changes`,
      `${limits.mostBatchEntries} creates`,
      `found by a query | ${price('items')} |`,
      `| ${constant('shared/carry/table/metered.ts', 'countedTogether')} items that are only counted | 1 |`,
      `| ${constant('shared/carry/table/metered.ts', 'keysTogether')} index items that a count reads by their keys alone, ${constant('shared/carry/table/metered.ts', 'countedTogether')} that an estimate counts | 1 |`,
      `| a query | ${price('queries')} |`,
      `| an item written | ${price('writes')} |`,
      `is a transaction of its own | ${price('commits')} |`,
      `| ${number(1 / price('bytes'))} bytes of stored resources that are opened | 1 |`,
      `| ${number(1 / price('comparisons'))} comparisons of a value with what a search or a policy asks for | 1 |`,
      `| ${perUnit / constant('shared/records/write/write.ts', 'comparisonsOfElement')} elements that the path of a FHIRPath Patch looks at, ${perUnit / constant('shared/identity/policies/own-access.ts', 'comparisonsOfEntry')} entries of lists that are compared to keep what is hidden | 1 |`,
      `| ${perUnit / constant('shared/store/fhir/validate.ts', 'comparisonsOfRule')} rules of R4 that are checked, and entries of lists, beyond the first ${constant('shared/store/fhir/validate.ts', 'usualRules')} of a resource | 1 |`,
      `after ${requestCpuMs / 1000} s, whatever it costs`,
      `| ${perUnit / constant('shared/store/search/search-request.ts', 'comparisonsToReadValue')} alternatives of a search, or words of a ${code('_filter')}, that are read | 1 |`,
      `| ${perUnit} values that a JSON Patch adds or moves | 1 |`,
      `| a query or form | ${number(constant('shared/base/schema.ts', 'mostParameters'))} parameters`,
      `A request of ${number(constant('shared/identity/gate/serve.ts', 'costlyUnits'))} units`,
      `opens ${number(constant('shared/store/search/hit.ts', 'mostReads'))} resources`,
      `fits ${limits.longestBodyBytes / 1024 ** 2} MiB to a Project of ${number(constant('test/worst/seed.ts', 'patients'))} Patients and ${number(constant('test/worst/seed.ts', 'observations'))} Observations`,
      `a batch ${constant('test/worst/worst-requests.test.ts', 'changeCpuMs')} ms for each`,
      ...typedKeys(functionShares).map((name) => {
        const of = (owner: Owner) => shareOf(name, stage, owner);
        const source = name === 'jobs' ? '' : `${of({ source: 's' })} `;
        return `| ${code(name)} | ${executionsOf(name, 1_000)} | ${of({ project: 'p' })} | ${source}|`;
      }),
      `${functionShares.account.ofProject} %. ${code('projectShare')}`,
      `less than ${leastToShare} (`,
      `start ${settingDefaults.concurrentRuns}, or half of the share of ${code('jobs')} where that is less (${shareOf('jobs', stage, { project: 'p' })})`,
      `${code('treeRuns')} (${settingDefaults.treeRuns})`,
      `${number(settingDefaults.invitesPerHour)} invites in an hour`,
      `${limits.usualFailedAddresses} addresses that fail in ${attemptMinutes} minutes`,
      `${limits.mostResets} forgotten passwords in ${attemptMinutes} minutes`,
      `${number(stageThrottle.rate)} of the stage`,
      `deliveries at once (${queues.deliveries.mostConcurrent}) | a Project ${mostOfProject}, a Subscription five; with more than ${mostOfProject} Subscriptions`,
      `an address has ${number(constant('infra/stage.ts', 'usual'))} in five minutes`,
      `${constant('shared/identity/sign-in/logins.ts', 'mostLogins')} by signing in`,
      `for them ${constant('shared/identity/tokens/token-exchange.ts', 'mostExchanges')} an hour`,
      `an account's ${number(stage.accountConcurrency)} executions`,
      `${shareOf('login', stage, { source: 's' })} people of a clinic`,
      `(${code('PORTICO_ACCOUNT_CONCURRENCY')}, ${number(constant('infra/local/stack.ts', 'accountConcurrency'))})`,
      `a Project ${settingDefaults.subscriptions} each`,
    ],
    others: [
      [/up to 25 values/, 'test/storage/batch.test.ts'],
      [/a new account has 10/, 'Lambda'],
    ],
  },
  'scale.md': {
    ours: [
      `at 10 resources and at ${number(constant('test/resources/round-trips.test.ts', 'many'))}`,
      `at ${number(constant('test/resources/round-trips.test.ts', 'many'))} |`,
      `reads at most ${number(constant('shared/store/search/hit.ts', 'mostReads'))} resources`,
      `holds at most ${number(constant('shared/store/search/hit.ts', 'mostSorted'))} candidates`,
      `over at most ${constant('shared/store/search/run-search.ts', 'mostLinked')} resources`,
      `includes at most ${number(constant('shared/records/read/included.ts', 'mostIncluded'))}`,
      `more than ${constant('shared/store/search/find-entries.ts', 'mostBots')} Bots`,
      `${streamReading.batchSize} records at once`,
      `${number(retries)} attempts are twelve`,
      ...queueRows.map(([name, { batchSize, mostConcurrent }]) => {
        const persecond = name === 'exports' ? '' : ` ${number((batchSize * mostConcurrent * 1000) / 50)}`;
        const ofProject = name === 'deliveries' ? `, of which a Project has ${mostOfProject}` : '';
        return `| ${name} | ${batchSize} × ${mostConcurrent}${ofProject} |${persecond} |`;
      }),
    ],
    others: [
      [/(?:4|5|2) × `\w+`/, 'test/resources/round-trips.test.ts'],
      [/pass 2,000 entries that do not match/, 'test/resources/audit-cost.test.ts'],
      [/units of 1 KB|\*\*2 units for each index item\*\*/, 'DynamoDB'],
      [/1,000 write units a second at most, so it holds at\s+most 1,000 records/, 'DynamoDB'],
      [/are 20 calls of SQS/, 'test/unit/dispatch.test.ts'],
      [/for 14 days/, 'test/infra/data.test.ts'],
      [/at 50 ms each/, 'a supposition'],
      [/14 a second at first/, 'SES'],
      [/a Bot of 1 s makes it 200/, 'a supposition'],
      [/allows 2,500 of those, in use or idle, for each 1,000 of concurrency/, 'Lambda'],
      [/takes 50 ms, the function 30 more, a cold start 900;|has\s+1\/n of/, 'test/unit/simulate.test.ts'],
      [/^\| (?:the first day|10×|100×|1,000×|any) \|.*$/m, 'quotas of AWS, and what follows from them'],
    ],
  },
  'identity.md': {
    ours: [
      `longer than ${settingDefaults.invitationDays} days (1 to ${settingBounds.invitationDays}, per Project)`,
      `within ${seconds('shared/identity/invitations/create-member.ts', 'keepLinkMs')} s the same link`,
      `at most ${constant('shared/identity/invitations/bulk-columns.ts', 'mostBulkRows')} rows`,
      `and ${constant('shared/identity/invitations/invite-many.ts', 'longestFileBytes') / 1024 ** 2} MiB`,
      `(1 to ${constant(claims, 'longestKey')} visible characters`,
      `for ${constant(claims, 'keptSeconds') / 3600} hours`,
      `longer than ${constant('shared/store/items/content.ts', 'longestPieceBytes') / 1024} KB when compressed`,
      `for ${constant('shared/identity/sign-in/person-login.ts', 'longestLoginSeconds') / 86_400} days from the sign-in`,
      `(${limits.idleMinutesBounds.least} to ${limits.idleMinutesBounds.most}, 0 for none`,
      `to ${constant('shared/identity/sign-in/password.ts', 'longestPassword')} characters`,
      `are, ten in ${attemptMinutes} minutes`,
      `ten in ${attemptMinutes} minutes are the most of one person`,
      `takes it back within ${constant('shared/identity/sign-in/undo-address.ts', 'undoMs') / 3_600_000} hours`,
      `up to ${constant('shared/identity/tokens/token-exchange.ts', 'mostExchanges')} an hour`,
      `up to ${constant('shared/identity/sign-in/logins.ts', 'mostLogins')} logins`,
      `had been for ${constant('shared/identity/sign-in/undo-address.ts', 'undoMs') / 3_600_000} hours`,
      `for one address in ${attemptMinutes} minutes`,
      `When ${words[limits.usualFailedAddresses]} addresses (${code('failedAddresses')} of the stage) have failed from one source in ${attemptMinutes} minutes`,
      `at most ${words[limits.mostResets]} forgotten passwords in ${attemptMinutes} minutes`,
      `(up to ${constant('shared/identity/memberships/change-client.ts', 'mostHours')})`,
    ],
    others: [
      [/has 8/, 'test/spec/password.test.ts'],
      [/NIST SP 800-63B|\(AAL1\)/, 'NIST'],
      [/24 characters in groups of four/, 'test/spec/second-factor.test.ts'],
      [/rows count from 1/, 'test/spec/invite-bulk.test.ts'],
    ],
  },
};

/** Names that have a number in them, and statuses. */
const names =
  /V8|RFC \d+|OAuth 2|SMART(?: App Launch)?(?: v?\d)?|\(and v1\)|UTF-8|IPv[46]|\/64|S256|R4|\[(?:nodejs\/node#|decision )\d+\]|(?<!\d)(?:200|400|401|403|404|409|410|412|413|415|422|429|4xx|5xx|500|503)(?!\d|,\d)/g;

test.each(Object.keys(figures))('docs/%s has no figure that nothing holds', (page) => {
  const { ours = [], others = [] } = figures[page] ?? {};
  let text = textOf(page)
    .replace(/<!-- simulation -->[\s\S]*?<!-- end -->/, '')
    .replace(/```[\s\S]*?```/g, '');
  expect(ours.filter((phrase) => !says(text, phrase))).toEqual([]);
  for (const [what, heldBy] of others) {
    expect([what, what.test(text)]).toEqual([what, true]);
    if (heldBy.startsWith('test/'))
      expect([heldBy, existsSync(resolve(root, heldBy))]).toEqual([heldBy, true]);
  }
  for (const phrase of ours) text = text.replace(new RegExp(pattern(phrase)), '|');
  for (const [what] of others) text = text.replace(new RegExp(what, `${what.flags}g`), '');
  const left = text
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/`[^`]*`/g, '')
    .replace(names, '');
  expect(left.split('\n').filter((line) => /\d/.test(line))).toEqual([]);
});

test('docs/security.md names a test in each row of its tables', () => {
  const [tables = ''] = textOf('security.md').split('## What is not promised');
  const rows = tables
    .split('\n')
    .filter((line, i, all) => line.startsWith('| ') && !all[i + 1]?.startsWith('|--'));
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter((row) => !/\]\(\.\.\/test\/[^)]+\)/.test(row))).toEqual([]);
});

test('docs/dependencies.md says of each dependency why it is there', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(resolve(root, 'package.json'), 'utf8'),
  );
  const all = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const [taken = ''] = textOf('dependencies.md').split('## Weighed, and not taken');
  const named = (name: string) =>
    taken.includes(code(name)) || taken.includes(code(name.replace(/\/.*$/, '/*')));
  expect(all.filter((name) => !named(name))).toEqual([]);
});
