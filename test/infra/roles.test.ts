import { describe, expect, it } from '@jest/globals';
import { functionNames as routeFunctions } from '../../functions/routes.ts';
import { timeoutSeconds } from '../../infra/deployed-functions.ts';
import { isAllowed, openPurposes } from '../../infra/local/assembly/role.ts';
import { permissions } from '../../infra/permissions.ts';
import { functionNameOf } from '../../infra/stage.ts';
import { accessMessage } from '../../shared/base/log.ts';
import { type KeyPurpose, keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { dueKey, keys, startKey } from '../../shared/carry/table/keys.ts';
import { partitionClasses } from '../../shared/carry/table/scan-page.ts';
import { chosenLoginAttributes, chosenLoginItems } from '../../shared/identity/sign-in/person-login.ts';
import {
  actionsOf,
  functionsOf,
  ofType,
  only,
  type Statement,
  stageTemplates,
  statementsOfRole,
} from './stage-templates.ts';

const stacks = stageTemplates();
const deployed = Object.entries(stacks).flatMap(([stack, resources]) =>
  functionsOf(resources).map((one) => ({
    ...one,
    stack,
    resources,
    statements: statementsOfRole(resources, one.roleId),
    label: String(one.properties.Description),
  })),
);

/** The one function with that description. */
function named(label: string) {
  const found = deployed.find((one) => one.label === label);
  if (!found) throw new Error(`No function ${label}`);
  return found;
}

function actions(label: string, service: string): string[] {
  return actionsOf(named(label).statements).filter((action) => action.startsWith(`${service}:`));
}

/** Through DynamoDB only. */
function viaTable({ Condition }: Statement): boolean {
  return JSON.stringify(Condition ?? {}).includes('kms:ViaService');
}

function leadingKeys(condition: unknown): string[] {
  type Condition = { 'ForAllValues:StringLike'?: { 'dynamodb:LeadingKeys'?: string[] } };
  const { 'ForAllValues:StringLike': found } = (condition ?? {}) as Condition;
  return found?.['dynamodb:LeadingKeys'] ?? [];
}

describe('roles', () => {
  it('are one for each function', () => {
    expect(new Set(deployed.map(({ stack, roleId }) => `${stack} ${roleId}`)).size).toBe(deployed.length);
    expect(deployed).toHaveLength(Object.keys(permissions).length + 3);
  });

  it.each(deployed)('$label: no managed policy, no wildcard', ({ resources, roleId, statements }) => {
    expect(resources[roleId]?.Properties).not.toHaveProperty('ManagedPolicyArns');
    expect(actionsOf(statements).filter((action) => action.includes('*'))).toEqual([]);
    // Lambda names the objects of what it could not hand on.
    const reached = JSON.stringify(statements.map(({ Resource }) => Resource));
    expect(reached.replace('/aws/lambda/*', '')).not.toContain('*');
  });

  it.each(deployed)('$label: writes to the log group that it is given', ({ properties, statements }) => {
    const { LogGroup } = properties.LoggingConfig as { LogGroup: { Ref: string } };
    const logs = statements.filter((statement) => actionsOf([statement])[0]?.startsWith('logs:'));
    expect(logs.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] }]);
  });

  it('bring who looked at what from each function of the API to a log of its own, which CloudWatch alone feeds', () => {
    const filters = [
      ...ofType(stacks.api, 'AWS::Logs::SubscriptionFilter'),
      ...ofType(stacks.events, 'AWS::Logs::SubscriptionFilter'),
    ];
    const served = [...routeFunctions].filter((one) => one !== 'site');
    // And from the one that hands records on.
    expect(filters).toHaveLength(served.length + 1);
    expect(filters.map(([id]) => id)).toContainEqual(expect.stringMatching(/^deliver/));
    for (const [, { Properties }] of filters) {
      expect(Properties.FilterPattern).toBe(`{ $.message = "${accessMessage}" }`);
      expect(JSON.stringify(Properties.DestinationArn)).toContain(
        `:function:${functionNameOf({ name: 'test' }, 'access-records')}"`,
      );
    }
    const keeper = named('Keeps who called and who looked at what');
    expect(keeper.properties.FunctionName).toBe(functionNameOf({ name: 'test' }, 'access-records'));
    const { LogGroup } = keeper.properties.LoggingConfig as { LogGroup: { Ref: string } };
    expect(keeper.resources[LogGroup.Ref]?.Properties.RetentionInDays).toBe(365);
    expect(only(stacks.access, 'AWS::Lambda::Permission').Properties.Principal).toBe('logs.amazonaws.com');
  });

  it('read and write items of the table, never the table itself', () => {
    const items =
      /^dynamodb:(BatchGetItem|BatchWriteItem|Query|PutItem|UpdateItem|DeleteItem|ConditionCheckItem)$/;
    const stream = /^dynamodb:(DescribeStream|GetRecords|GetShardIterator|ListStreams)$/;
    for (const { label, statements } of deployed) {
      const beyond = actionsOf(statements).filter(
        (action) => action.startsWith('dynamodb:') && !items.test(action),
      );
      const reads = /^(Gives stored resources|Creates a Project)/.test(label) ? ['dynamodb:Scan'] : [];
      expect(beyond.filter((action) => !stream.test(action))).toEqual(reads);
      expect(beyond.some((action) => stream.test(action))).toBe(label.startsWith('Hands changes'));
    }
  });

  it('let no function that runs Bots delete an item, or list them', () => {
    for (const label of ['Runs a Bot named by its id', 'Runs a Bot named by an identifier']) {
      expect(actions(label, 'dynamodb')).toEqual([
        'dynamodb:BatchGetItem',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
      ]);
    }
  });

  it('let who decides on deliveries, who makes them and who starts schedules write no resource', () => {
    const of = (label: string) => {
      const writing = named(label).statements.filter((statement) =>
        actionsOf([statement]).some((action) => /^dynamodb:(Put|Update|Delete|BatchWrite)Item$/.test(action)),
      );
      expect(writing).toHaveLength(1);
      const patterns = leadingKeys(writing[0]?.Condition);
      const forms = patterns.map((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`));
      return ({ pk }: { pk: string }) => forms.some((form) => form.test(pk));
    };
    const decides = of('Decides which Subscriptions a change is for');
    const delivers = of('Wakes Bots and calls hooks for Subscriptions');
    const ticks = of('Runs Bots whose schedules are due');
    for (const key of [
      ...[dueKey('p', 'b', '2026'), startKey('p', 'b', '2026'), keys.schedule('p', 'b')],
      ...[keys.job('p', 'j'), keys.run('p', 'b', 0, '2026')],
    ]) {
      expect(ticks(key)).toBe(true);
    }
    for (const key of [keys.resource('p', 'Bot', 'b'), keys.resource('p', 'Patient', 'x'), keys.login('l')]) {
      expect(ticks(key)).toBe(false);
    }
    const lane = keys.laneEntry('p', 's', 'Patient#x', '2026');
    for (const key of [lane, keys.delivery('p', 'd'), keys.attempt('p', 's', '2026')]) {
      expect([decides(key), delivers(key)]).toEqual([true, true]);
    }
    for (const key of [
      ...[keys.waitingLane('p', 's', 'l'), keys.delivering('p', 's'), keys.running('p')],
      ...[keys.run('p', 'b', 0, '2026'), keys.runDay('p', '2026', 'b')],
    ]) {
      expect([decides(key), delivers(key)]).toEqual([false, true]);
    }
    for (const key of [
      ...[keys.resource('p', 'Patient', 'x'), keys.resource('p', 'Subscription', 'x'), keys.user('u')],
      ...[keys.resource('p', 'ProjectMembership', 'x'), keys.client('c'), keys.login('l')],
    ]) {
      expect([decides(key), delivers(key)]).toEqual([false, false]);
    }
  });

  it('reach the classes of keys that permissions.ts names, reading and writing', () => {
    for (const { label, resources, roleId, statements } of deployed) {
      const [folder = ''] = String(resources[roleId]?.Properties.Description).split(':', 1);
      const {
        reaches = [],
        narrowly = [],
        writesOnly,
      } = permissions[folder as keyof typeof permissions] ?? {};
      const reached = reaches.flatMap((one) => [...partitionClasses[one]] as string[]);
      for (const statement of statements) {
        const items = actionsOf([statement]).filter((action) => /^dynamodb:.*(Item|Query)$/.test(action));
        if (items.length === 0) continue;
        if (JSON.stringify(statement.Condition).includes('dynamodb:Attributes')) {
          const of = narrowly.find(({ action }) => items.join() === `dynamodb:${action}`);
          const keyed = {
            'ForAllValues:StringLike': {
              'dynamodb:LeadingKeys': of?.to.flatMap((one) => partitionClasses[one] as readonly string[]),
            },
            'ForAllValues:StringEquals': { 'dynamodb:Attributes': of?.attributes },
          };
          const notWhole = {
            Query: { StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' } },
            BatchGetItem: {
              StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
              Null: { 'dynamodb:Attributes': 'false' },
            },
            BatchWriteItem: {},
          };
          expect({ label, condition: statement.Condition }).toEqual({
            label,
            condition: of && { ...keyed, ...notWhole[of.action] },
          });
          continue;
        }
        const writes = items.every((action) => !/BatchGetItem|Query/.test(action));
        const expected = writes && writesOnly ? writesOnly : reached;
        expect({ label, keys: leadingKeys(statement.Condition) }).toEqual({ label, keys: expected });
        expect(expected).not.toEqual([]);
      }
    }
  });

  /** Whether a role may do so with an item of that partition, the call naming these attributes or none. */
  const may = (
    { statements }: (typeof deployed)[number],
    action: string,
    { pk }: { pk: string },
    { attributes, select }: { attributes?: readonly string[]; select?: string } = {},
  ) => isAllowed(statements as never, { action: `dynamodb:${action}`, partitions: [pk], attributes, select });

  it('let no function read password hashes and seeds but those that sign in, change or find people', () => {
    // What changes a single item can be asked to answer it, with its condition's failure too.
    const reading = ['BatchGetItem', 'GetItem', 'Query', 'Scan', 'PartiQLSelect'];
    const answering = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem', 'PartiQLUpdate'];
    const whole = [{}, { select: 'ALL_ATTRIBUTES' }, { attributes: ['pk', 'sk'] }];
    const secrets = ['hash', 'seed', 'earlier', 'recovery'].flatMap((secret) => [
      { attributes: ['pk', 'sk', secret], select: 'SPECIFIC_ATTRIBUTES' },
      { attributes: ['pk', 'sk', secret] },
    ]);
    const reads = (one: (typeof deployed)[number], key: { pk: string }) =>
      answering.some((action) => may(one, action, key)) ||
      reading.some((action) => secrets.some((wanted) => may(one, action, key, wanted))) ||
      reading.some((action) => may(one, action, key)) ||
      ['Query', 'Scan'].some((action) => whole.some((wanted) => may(one, action, key, wanted)));
    const folderOf = ({ resources, roleId }: (typeof deployed)[number]) =>
      String(resources[roleId]?.Properties.Description).split(':', 1)[0] ?? '';
    const found = Object.fromEntries(
      deployed.map((one) => [
        folderOf(one),
        [keys.password('u'), keys.mfa('u')].some((key) => reads(one, key)),
      ]),
    );
    const readers = ['account', 'invite', 'login', 'members', 'outbox', 'provision', 'resources'];
    const of = (names: readonly string[]) => names.map((name) => [name, readers.includes(name)]);
    expect(found).toEqual(Object.fromEntries(of(Object.keys(found))));
    expect(found).toMatchObject(Object.fromEntries(of(Object.keys(permissions))));
    const reach = (key: { pk: string }) =>
      deployed.filter((one) => may(one, 'BatchGetItem', key)).map(folderOf);
    expect(reach(keys.attempts(['a'], 1))).toEqual(['login', 'account']);
    expect(reach(keys.outbox('p', 'm')).filter((name) => name.startsWith('execute'))).toEqual([]);
    // A reindexing scans for keys.
    const reindexes = deployed.filter((one) => folderOf(one) === 'reindex');
    const asked = { attributes: ['pk', 'sk'], select: 'SPECIFIC_ATTRIBUTES' };
    expect(reindexes.map((one) => may(one, 'Scan', keys.mfa('u'), asked))).toEqual([true]);
  });

  it('let who exports read of people who they are, and who gives out tokens where they are members', () => {
    const key = keys.user('u');
    const secrets = ['hash', 'seed', 'earlier', 'recovery', 'email', 'userId'];
    const exports = named('Exports Projects');
    const user = ['pk', 'sk', 'content', 'deleted'];
    const taken = [
      { attributes: user },
      {},
      ...[...secrets, 'loginId'].map((one) => ({ attributes: [...user, one] })),
    ];
    expect(taken.map((wanted) => may(exports, 'BatchGetItem', key, wanted))).toEqual(
      taken.map((_, i) => i === 0),
    );
    expect(may(exports, 'Query', key, { attributes: user, select: 'SPECIFIC_ATTRIBUTES' })).toBe(false);
    expect(may(exports, 'BatchGetItem', keys.address('a'), { attributes: user })).toBe(false);

    const gives = named('Issues access tokens, publishes their keys');
    const attributes = ['pk', 'sk', 'project', 'membershipId'];
    const select = 'SPECIFIC_ATTRIBUTES';
    const asked = [
      { attributes, select },
      ...[
        { attributes },
        { select: 'ALL_ATTRIBUTES', attributes: ['pk', 'sk'] },
        { attributes: ['pk', 'sk'] },
      ],
      ...[...secrets, 'content'].map((one) => ({ attributes: [...attributes, one], select })),
    ];
    expect(asked.map((wanted) => may(gives, 'Query', key, wanted))).toEqual(asked.map((_, i) => i === 0));
    expect(may(gives, 'BatchGetItem', key, { attributes })).toBe(false);
    const of = {
      id: 'l',
      userId: 'u',
      clientId: 'c',
      scope: 'openid',
      issuer: 'i',
      issuerProject: 'p',
      mfa: true,
      signedInAtMs: Date.now(),
    };
    const items = chosenLoginItems(of, Date.now(), { project: 'p', membershipId: 'm' });
    const login = [...new Set(items.flatMap((item) => Object.keys(item)))];
    expect([...login].sort()).toEqual(['pk', 'sk', ...chosenLoginAttributes].sort());
    expect(items.map((item) => may(gives, 'BatchWriteItem', item, { attributes: login }))).toEqual([
      true,
      true,
    ]);
    for (const one of secrets)
      expect(may(gives, 'BatchWriteItem', key, { attributes: [...login, one] })).toBe(false);
  });

  it('let who operates the stage, and no function, invoke what makes Projects and what reindexes', () => {
    const policy = only(stacks.provision, 'AWS::IAM::ManagedPolicy');
    const { Statement } = policy.Properties.PolicyDocument as {
      Statement: { Action: string; Resource: unknown[] };
    };
    const [statement, ...others] = [Statement].flat();
    expect(others).toEqual([]);
    expect(statement?.Action).toBe('lambda:InvokeFunction');
    const invocable = (['provision', 'reindex', 'stage-keys'] as const).map((one) =>
      functionNameOf({ name: 'test' }, one),
    );
    for (const name of invocable) {
      expect(JSON.stringify(statement?.Resource)).toContain(`:function:${name}"`);
    }
    expect(statement?.Resource).toHaveLength(invocable.length);
    expect(policy.Properties).not.toHaveProperty('Roles');
    expect(policy.Properties).not.toHaveProperty('Users');
    const invoked = deployed.flatMap(({ statements }) =>
      statements
        .filter((one) => actionsOf([one]).includes('lambda:InvokeFunction'))
        .map(({ Resource }) => Resource),
    );
    expect(JSON.stringify(invoked)).not.toMatch(/provision|reindex|stage-keys/i);
  });

  it('give the function that serves the app its log and nothing else', () => {
    const { statements } = named('Serves the administration app');
    expect(actionsOf(statements)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
  });

  it('let only the token function sign', () => {
    const signing = deployed.filter(({ statements }) => actionsOf(statements).includes('kms:Sign'));
    expect(signing.map(({ label }) => label)).toEqual(['Issues access tokens, publishes their keys']);
  });

  it('let only who runs Bots open their secrets, and only who writes them make their keys', () => {
    const allowed = (action: string) =>
      deployed
        .filter(({ statements }) =>
          statements.some(
            (statement) =>
              actionsOf([statement]).includes(action) &&
              JSON.stringify(statement.Condition).includes('portico-bot-secrets'),
          ),
        )
        .map(({ label }) => label)
        .sort();
    expect(allowed('kms:Decrypt')).toEqual([
      'Runs Bots that nobody waits for',
      'Runs a Bot named by an identifier',
      'Runs a Bot named by its id',
      'Wakes Bots and calls hooks for Subscriptions',
    ]);
    // Subscriptions have secrets of the same kind.
    expect(allowed('kms:GenerateDataKey')).toEqual([
      'Creates and deploys Bots',
      'The FHIR API, and every path that is no route',
    ]);
  });

  it('open the keys of their own purposes, and no other function opens one', () => {
    const running = [
      'Runs a Bot named by its id',
      'Runs a Bot named by an identifier',
      'Runs Bots that nobody waits for',
      'Wakes Bots and calls hooks for Subscriptions',
    ];
    const signsIn = 'Signs people in';
    const isSignedIn = 'Says who is signed in, and does what is their own';
    const mails = 'Sends the mail that transactions have left to be sent';
    const opened: Record<KeyPurpose, string[]> = {
      'run-token': [...running, isSignedIn, 'The FHIR API, and every path that is no route'],
      'invitation-link': [signsIn, mails],
      'reset-link': [signsIn, mails],
      'address-link': [signsIn, mails],
      totp: [signsIn, isSignedIn],
      drafts: [isSignedIn],
      'issuer-secret': [
        signsIn,
        'Reads and changes Projects and their members',
        'Creates a Project and its first administrator',
      ],
      'external-sign-in': [signsIn, isSignedIn],
      'known-sign-in': [signsIn],
    };
    const found = keyPurposes.map((purpose) => [
      purpose,
      deployed
        .filter(({ statements }) => openPurposes(statements).includes(purpose))
        .map(({ label }) => label)
        .sort(),
    ]);
    const expected = Object.entries(opened).map(([purpose, labels]) => [purpose, labels.sort()]);
    expect(found).toEqual(expected);
  });

  it('let one function make keys of the stage, which opens none of them', () => {
    const makers = deployed.filter(({ statements }) =>
      actionsOf(statements.filter((one) => !viaTable(one))).some((one) =>
        /^kms:(Encrypt|GenerateDataKeyWithoutPlaintext)$/.test(one),
      ),
    );
    expect(makers.map(({ label }) => label)).toEqual(['Makes the secret keys of the stage']);
    const [{ statements } = { statements: [] }] = makers;
    expect(openPurposes(statements)).toEqual([]);
    const made = statements.find((one) => actionsOf([one]).includes('kms:Encrypt') && !viaTable(one));
    expect(actionsOf(made ? [made] : [])).toEqual(['kms:Encrypt', 'kms:GenerateDataKeyWithoutPlaintext']);
    expect(actions('Makes the secret keys of the stage', 'dynamodb')).toEqual([
      'dynamodb:BatchGetItem',
      'dynamodb:PutItem',
    ]);
    const earlier = deployed.filter(({ statements: own }) =>
      JSON.stringify(own).includes('portico-stage-secret'),
    );
    expect(earlier).toEqual(makers);
  });

  it('open what is wrapped in a context that is named, the table’s key through DynamoDB only', () => {
    const conditions = deployed.flatMap(({ statements }) =>
      statements
        .filter((statement) => actionsOf([statement]).includes('kms:Decrypt'))
        .map(({ Condition }) => Object.keys((Condition as { StringEquals: object }).StringEquals).join()),
    );
    expect(new Set(conditions)).toEqual(
      new Set([
        'kms:ViaService',
        'kms:EncryptionContext:use',
        'kms:EncryptionContext:use,kms:EncryptionContext:purpose',
      ]),
    );
  });

  it('are given their keys before they are made or changed', () => {
    const made = only(stacks.api, 'AWS::CloudFormation::CustomResource');
    expect(made.Properties.Purposes).toEqual(keyPurposes);
    // Of an answer that does not come CloudFormation waits an hour unless it is told.
    expect(made.Properties.ServiceTimeout).toBe(timeoutSeconds.stageKeysMade);
    const others = functionsOf(stacks.api).filter(({ id }) => !/^stagekeys/i.test(id));
    expect(others.length).toBe(functionsOf(stacks.api).length - 1);
    // Their roles too: until then what they were opens what it opened.
    const policies = ofType(stacks.api, 'AWS::IAM::Policy').filter(([, { Properties }]) =>
      others.some(({ roleId }) => (Properties.Roles as { Ref: string }[])[0]?.Ref === roleId),
    );
    expect(policies.length).toBe(others.length);
    for (const id of [...others.map((one) => one.id), ...policies.map(([policy]) => policy)]) {
      const { DependsOn = [] } = stacks.api[id] as { DependsOn?: string[] };
      expect([id, DependsOn]).toEqual([id, expect.arrayContaining([made.id])]);
    }
  });

  it('let only the outbox send mail, from the stage’s address', () => {
    const senders = deployed.filter(({ statements }) => actionsOf(statements).includes('ses:SendEmail'));
    expect(senders.map(({ label }) => label)).toEqual([
      'Sends the mail that transactions have left to be sent',
    ]);
    expect(senders[0]?.statements).toContainEqual(
      expect.objectContaining({ Condition: { StringEquals: { 'ses:FromAddress': 'portico@example.org' } } }),
    );
  });
});

describe('a stage whose SES is in its sandbox', () => {
  it('gives the outbox every identity to send to, and one address to send from', () => {
    const { events } = stageTemplates('mailSandbox');
    const [sending] = functionsOf(events)
      .flatMap(({ roleId }) => statementsOfRole(events, roleId))
      .filter((statement) => actionsOf([statement]).includes('ses:SendEmail'));
    expect(JSON.stringify(sending?.Resource)).toContain(':identity/*');
    expect(sending?.Condition).toEqual({ StringEquals: { 'ses:FromAddress': 'portico@example.org' } });
  });
});

describe('functions', () => {
  it('that people invoke have the names by which npm run provision and reindex find them', () => {
    const nameOf = (label: string) => named(label).properties.FunctionName;
    expect(nameOf('Creates a Project and its first administrator')).toBe(
      functionNameOf({ name: 'test' }, 'provision'),
    );
    expect(nameOf('Gives stored resources the index items of new search parameters')).toBe(
      functionNameOf({ name: 'test' }, 'reindex'),
    );
  });

  it.each(deployed)(
    '$label: Node 24 on arm64, its log kept for a bounded time',
    ({ resources, properties }) => {
      expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
      const { LogGroup } = properties.LoggingConfig as { LogGroup: { Ref: string } };
      expect(resources[LogGroup.Ref]?.Properties.RetentionInDays).toBeGreaterThan(0);
    },
  );

  it.each(deployed)('$label: has an alarm that says what people notice', ({ resources, id }) => {
    const own = ofType(resources, 'AWS::CloudWatch::Alarm').filter(([, { Properties }]) =>
      JSON.stringify(Properties.Metrics ?? []).includes(`"Ref":"${id}"`),
    );
    expect(own).toHaveLength(1);
    expect(own[0]?.[1].Properties.AlarmDescription).toMatch(/\.$/);
    expect(own[0]?.[1].Properties.AlarmActions).toHaveLength(1);
  });

  it('have no endpoint of a laptop in their environment', () => {
    const names = deployed.flatMap(({ properties }) =>
      Object.keys((properties.Environment as { Variables: object } | undefined)?.Variables ?? {}),
    );
    expect(names.filter((name) => /ENDPOINT|PORTICO_|AWS_/.test(name))).toEqual([]);
  });
});
