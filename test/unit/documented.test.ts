import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { queues } from '../../infra/queues.ts';
import { shares } from '../../infra/running/concurrency.ts';
import { routeThrottles, stageThrottle } from '../../infra/running/throttles.ts';
import { settingNames } from '../../infra/stage.ts';
import { streamReading } from '../../infra/stream-reading.ts';
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
  ['deploy.md', 'setting of a stage', Object.keys(settingNames).map((name) => `| ${code(name)} |`)],
  [
    'deploy.md',
    'queue whose messages are not given up after five deliveries',
    Object.entries(queues).flatMap(([name, { mostReceives }]) =>
      mostReceives === 5 ? [] : [`${mostReceives.toLocaleString('en')} of ${name}`],
    ),
  ],
  [
    'scale.md',
    'queue, with how much of it is taken at once',
    Object.entries(queues).map(
      ([name, { batchSize, mostConcurrent }]) => `| ${name} | ${batchSize} × ${mostConcurrent}`,
    ),
  ],
  [
    'scale.md',
    'number of the reading of the stream',
    [
      `${streamReading.batchSize} records at once`,
      `${streamReading.retryAttempts.toLocaleString('en')} attempts`,
    ],
  ],
  [
    'operate.md',
    'share of the concurrency',
    [
      `${code('token')}, ${code('login')} and ${code('members')} ${shares.token} % each`,
      `execute ${shares['execute-by-id']} % each`,
      `${code('jobs')} ${shares.jobs} %`,
    ],
  ],
  [
    'operate.md',
    'throttle of a route',
    [
      `execute takes at most ${routeThrottles['execute-by-id']?.rate} requests a second`,
      `of ${code('token')} ${routeThrottles.token?.rate}, ${code('login')} ${routeThrottles.login?.rate}`,
      `${code('bots')} ${routeThrottles.bots?.rate}, the others ${stageThrottle.rate.toLocaleString('en')}`,
    ],
  ],
])('docs/%s names every %s', (page, _what, names) => {
  const text = textOf(page);
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
});
