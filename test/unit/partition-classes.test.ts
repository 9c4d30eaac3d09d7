import { expect, it } from '@jest/globals';
import { isAllowed } from '../../infra/local/assembly/role.ts';
import { dueKey, type Key, keys, pendingPartitions } from '../../shared/carry/table/keys.ts';
import { partitionClasses } from '../../shared/carry/table/scan-page.ts';

const classes = Object.entries(partitionClasses);

function classesOf({ pk }: Pick<Key, 'pk'>): string[] {
  return classes
    .filter(([, patterns]) => {
      const statement = {
        ...({ Effect: 'Allow', Action: 'dynamodb:Query' } as const),
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...patterns] } },
      };
      return isAllowed([statement], { action: 'dynamodb:Query', partitions: [pk] });
    })
    .map(([name]) => name);
}

/** Every key with some values; an object and a list stand where one of them is wanted. */
const made = Object.entries(keys).map(([name, key]): [string, Key] => {
  const values: unknown[] = ['a', 'b', 'c', 'd', 'e'];
  if (name === 'attempts') return [name, keys.attempts(['a'], 1)];
  if (name === 'version')
    return [name, keys.version('p', 'Patient', 'x', { lastUpdated: '2026', versionId: '1' })];
  return [name, (key as (...given: unknown[]) => Key)(...values)];
});

it.each([
  ...made,
  ['issuer of the stage', keys.issuer(undefined, 'i')],
  ['subject of the stage', keys.subject(undefined, 'i', 's')],
  ['due', dueKey('p', 'b', '2026')],
  ...pendingPartitions().map((pk): [string, Key] => [pk, { pk, sk: '' }]),
])('the key %s is of one class', (_, key) => {
  expect(classesOf(key)).toHaveLength(1);
});
