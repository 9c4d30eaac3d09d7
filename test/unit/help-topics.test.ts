import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { topicOf } from '../../web/src/help/topics.ts';

/** The paths of the app's own routes. */
const paths = readdirSync('web/src/shell').flatMap((name) =>
  [...readFileSync(`web/src/shell/${name}`, 'utf8').matchAll(/<Route path="(\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  ),
);

test('help leads to pages that there are', () => {
  const more = paths.flatMap((path) => topicOf(path)?.more?.href ?? []);
  expect(more.length).toBeGreaterThan(3);
  expect(more.filter((href) => !paths.includes(href))).toEqual([]);
});

test('a page has the help of its own place only', () => {
  expect(topicOf('/members/1f0c')).toBe(topicOf('/members'));
  expect(topicOf('/membership')).toBe(undefined);
  expect(topicOf('/mail')).toBe(undefined);
});
