import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type Bonds, bondsOf, refusedChanges } from './refused-changes.ts';
import { type Statement, wholeTemplates } from './stage-templates.ts';
import { stages } from './stages.ts';

function bondsOfAll(templates: ReturnType<typeof wholeTemplates>): Record<string, Bonds> {
  return Object.fromEntries(Object.entries(templates).map(([name, template]) => [name, bondsOf(template)]));
}

const plainTemplates = wholeTemplates();
const plain = bondsOfAll(plainTemplates);

/** What the stacks of a release hold on to; a later release is held to it. `UPDATE_BONDS=1` writes that of a new one. */
const kept = join(import.meta.dirname, 'bonds-0.1.0.json');
if (process.env.UPDATE_BONDS) writeFileSync(kept, `${JSON.stringify(plain, null, 2)}\n`);

test('a stage of the kept release can be updated to this one', () => {
  const release = JSON.parse(readFileSync(kept, 'utf8')) as Record<string, Bonds>;
  expect(Object.values(release).flatMap(({ imports }) => imports)).not.toEqual([]);
  expect(refusedChanges(release, plain)).toEqual([]);
});

const changed = wholeTemplates('later');
const all = bondsOfAll(changed);

test('a domain, a restored table, filters of the network and the like may be set later, and taken back', () => {
  expect(refusedChanges(plain, all)).toEqual([]);
  expect(all.network?.exports).not.toEqual({});
  expect(all.sandbox?.imports).toEqual(expect.arrayContaining(Object.keys(all.network?.exports ?? {})));
  // A signing key that was named once keeps its number, and what it exports.
  expect(refusedChanges(all, plain)).toEqual([
    expect.stringMatching(/^data .*KeysSigning2.*: it is in use$/),
  ]);
});

test('what a stage does not switch on is in none of its stacks', () => {
  const types = Object.values(plainTemplates).flatMap(({ Resources }) =>
    Object.values(Resources).map(({ Type }) => Type),
  );
  expect(
    types.filter((type) => /EC2|NetworkFirewall|Route53|CloudFront|WAF|SecretsManager/.test(type)),
  ).toEqual([]);
  expect(JSON.stringify(plainTemplates)).not.toContain('VpcConfig');
});

test('an export that is gone or another, and a name that moves, are noticed', () => {
  const without = (stack: string, change: Partial<Bonds>) => ({
    ...plain,
    [stack]: { ...(plain[stack] as Bonds), ...change },
  });
  const { exports = {}, named = {} } = plain.data as Bonds;
  const [first = '', ...others] = Object.keys(exports);
  const rest = Object.fromEntries(others.map((name) => [name, exports[name]]));
  expect(refusedChanges(plain, without('data', { exports: rest }))).toEqual([
    `data cannot change the export ${first}: it is in use`,
  ]);
  expect(refusedChanges(plain, without('data', { exports: { ...exports, [first]: 'other' } }))).toHaveLength(
    1,
  );
  const [name = ''] = Object.keys(plain.provision?.named ?? {});
  const moved = {
    ...without('provision', { named: {} }),
    data: { ...(plain.data as Bonds), named: { ...named, [name]: 'Other' } },
  };
  expect(refusedChanges(plain, moved)).toEqual([`provision has ${name} already`]);
});

/** What a template says that something is called. */
function namesIn(value: unknown): string[] {
  return Object.entries(value ?? {}).flatMap(([key, of]) => [
    ...(/(?<!Header)Name$/.test(key) && typeof of === 'string' ? [of] : []),
    ...(typeof of === 'object' ? namesIn(of) : []),
  ]);
}

test('stages of one name stand in several regions of an account: what is the account’s names its region', () => {
  const ofAccount = /^AWS::(IAM|S3|CloudFront|Route53)::|^AWS::CloudWatch::Dashboard$/;
  const services = [
    ...['ApiGatewayV2', 'Backup', 'CloudFormation', 'CloudWatch', 'DynamoDB', 'EC2', 'Events', 'KMS'],
    ...['Lambda', 'Logs', 'NetworkFirewall', 'Route53Resolver', 'SES', 'SNS', 'SQS', 'SecretsManager'],
    'WAFv2',
  ];
  const ofRegion = new RegExp(`^(Custom|AWS::(${services.join('|')}))::`);
  const resources = Object.values(changed).flatMap(({ Resources }) => Object.values(Resources));
  const unknown = resources.filter(({ Type }) => !ofAccount.test(Type) && !ofRegion.test(Type));
  expect(unknown.map(({ Type }) => Type)).toEqual([]);
  const given = resources
    // An inline policy is of its role.
    .filter(({ Type }) => ofAccount.test(Type) && Type !== 'AWS::IAM::Policy')
    .flatMap(({ Properties: { Policies: _, ...own } }) => namesIn(own));
  expect(given).toEqual(
    expect.arrayContaining(['portico-test-eu-west-1', 'portico-test-operator-eu-west-1']),
  );
  expect(given.filter((name) => !name.includes('eu-west-1'))).toEqual([]);
});

test('a stage whose table was restored names it wherever the first one was named', () => {
  const { api, events, data } = changed;
  const text = JSON.stringify([api.Resources, events.Resources]);
  expect(text).toContain('"TABLE_NAME":"restored"');
  expect(text).toContain(`"EventSourceArn":"${stages.later.restoredTable}"`);
  expect(text).not.toMatch(/ImportValue":"[^"]*data:ExportsOutput\w*Table710B521B/);
  expect(
    Object.values(data.Resources).filter(({ Type }) => Type === 'AWS::DynamoDB::GlobalTable'),
  ).toHaveLength(1);
});

test('the token function signs with the first of the signing keys, and publishes the others', () => {
  const { Environment } =
    Object.values(changed.api.Resources)
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => Properties as { Environment?: { Variables: Record<string, unknown> } })
      .find((one) => JSON.stringify(one).includes('KeysSigning2')) ?? {};
  expect(JSON.stringify(Environment?.Variables.KEYS)).toMatch(
    /kms:.*KeysSigning2.*KeysWrapping.*KeysSigningD455/,
  );
  const policies = Object.values(changed.api.Resources).filter(({ Type }) => Type === 'AWS::IAM::Policy');
  const statements = policies.flatMap(
    ({ Properties }) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
  );
  const signing = statements.filter(({ Action }) => [Action].flat().includes('kms:Sign'));
  expect(signing).toHaveLength(1);
  expect(JSON.stringify(signing)).toMatch(/KeysSigning2/);
  expect(JSON.stringify(signing)).not.toMatch(/KeysSigningD455/);
  expect(
    statements.some(
      ({ Action, Resource }) =>
        Action === 'kms:GetPublicKey' && /KeysSigningD455/.test(JSON.stringify(Resource)),
    ),
  ).toBe(true);
});
