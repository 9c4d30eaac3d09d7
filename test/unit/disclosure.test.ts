import { expect, test } from '@jest/globals';
import { newDisclosure, noteWhole } from '../../shared/carry/disclosure.ts';

test('of what is shown again and again each version is kept once', () => {
  const disclosure = newDisclosure();
  for (const versionId of ['1', '2', '2', '1'])
    noteWhole(disclosure, { resourceType: 'Basic', id: 'b', meta: { versionId, lastUpdated: '' } });
  expect([...(disclosure.whole.get('Basic/b')?.keys() ?? [])]).toEqual(['1', '2']);
});
