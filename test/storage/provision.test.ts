import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ProvisionRequest, provision } from '../../functions/provision/provision.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import { parseHead } from '../../shared/table/keys.ts';
import { scanAll } from '../spec/portico.ts';
import { type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const request: ProvisionRequest = {
  name: 'Clinic',
  admin: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Min' },
};

describe('a Project is not made', () => {
  test.each<[string, object]>([
    ['a name with a header', { name: 'Clinic\r\nBcc: eve@example.com' }],
    ['a name that ends its line', { name: 'Clinic\n' }],
    ['no name', { name: '' }],
    [
      'an address with a header',
      { admin: { ...request.admin, email: 'a@example.com\r\nBcc: b@example.com' } },
    ],
    ['a list of addresses', { admin: { ...request.admin, email: 'a@example.com, b@example.com' } }],
    ['an administrator without a name', { admin: { ...request.admin, lastName: '' } }],
  ])('with %s, and nothing is written', async (_, change) => {
    await expect(provision(stage.services, { ...request, ...change })).rejects.toThrow('Needs');
    expect(await scanAll(stage.client, stage.tableName)).toEqual([]);
  });
});

test('what is made with a Project stands in one AuditEvent', async () => {
  const { project } = await provision(stage.services, { ...request, client: true });
  const items = await scanAll(stage.client, stage.tableName);
  const heads = items.flatMap((item) => parseHead(item) ?? []).filter(({ project: of }) => of === project.id);
  const [event, ...more] = items
    .filter((item) => parseHead(item)?.type === 'AuditEvent')
    .map((item) => storedResource(item));
  expect(more).toEqual([]);
  const entities = (event?.entity ?? []) as { what: { reference: string } }[];
  const named = entities.map(({ what }) => what.reference);
  const made = heads
    .filter(({ type }) => isResourceType(type) && type !== 'AuditEvent')
    .map(({ type, id }) => `${type}/${id}`);
  expect(made).toHaveLength(5);
  expect(named.filter((reference) => !reference.startsWith('User/')).sort()).toEqual(made.sort());
});
