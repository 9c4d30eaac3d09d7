import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accessesOf, guardTable, isAllowed } from '../../infra/local/assembly/role.ts';
import { type Listening, listen, readBody } from '../../infra/local/gateway/listen.ts';

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'HEAD' } });
const leading = (...patterns: string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns },
});

describe('what a call needs', () => {
  it.each([
    ['PutItem', { Item: key('U#1') }, [['PutItem', ['U#1']]]],
    ['UpdateItem', { Key: key('U#1') }, [['UpdateItem', ['U#1']]]],
    ['BatchGetItem', { RequestItems: { t: { Keys: [key('A'), key('B')] } } }, [['BatchGetItem', ['A', 'B']]]],
    [
      'BatchWriteItem',
      { RequestItems: { t: [{ PutRequest: { Item: key('A') } }, { DeleteRequest: { Key: key('B') } }] } },
      [['BatchWriteItem', ['A', 'B']]],
    ],
    [
      'TransactWriteItems',
      { TransactItems: [{ Put: { Item: key('A') } }, { ConditionCheck: { Key: key('B') } }] },
      [
        ['PutItem', ['A']],
        ['ConditionCheckItem', ['B']],
      ],
    ],
    [
      'Query',
      {
        KeyConditionExpression: '#p = :x AND begins_with(sk, :y)',
        ExpressionAttributeNames: { '#p': 'pk' },
        ExpressionAttributeValues: { ':x': { S: 'P#1' }, ':y': { S: 'V' } },
      },
      [['Query', ['P#1']]],
    ],
    ['Scan', {}, [['Scan', undefined]]],
  ])('%s', (operation, body, expected) => {
    const found = accessesOf(operation, body).map(({ action, partitions }) => [action, partitions]);
    expect(found).toEqual(expected.map(([action, partitions]) => [`dynamodb:${action}`, partitions]));
  });
});

describe('a role', () => {
  const put = (...partitions: string[]) => ({ action: 'dynamodb:PutItem', partitions });
  const allow = { Effect: 'Allow', Action: ['dynamodb:PutItem'] } as const;

  it('allows what a statement names, and nothing else', () => {
    expect(isAllowed([allow], put('U#1'))).toBe(true);
    expect(isAllowed([allow], { action: 'dynamodb:Scan', partitions: undefined })).toBe(false);
    expect(isAllowed([], put('U#1'))).toBe(false);
  });

  it('allows the partitions of its condition only, all of a call', () => {
    const some = { ...allow, Condition: leading('P#*#RUNS#*', 'L#*') };
    expect(isAllowed([some], put('P#1#RUNS#b#0', 'L#1'))).toBe(true);
    expect(isAllowed([some], put('P#1#RUNS#b#0', 'U#1'))).toBe(false);
    expect(isAllowed([some], put('xL#1'))).toBe(false);
  });

  it('allows the attributes of its condition only, to who names those that they want', () => {
    const some = {
      ...({ Effect: 'Allow', Action: 'dynamodb:BatchGetItem' } as const),
      Condition: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'name'] },
        StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
        Null: { 'dynamodb:Attributes': 'false' },
      },
    };
    const may = (wanted: object, Condition: object = some.Condition) =>
      accessesOf('BatchGetItem', { RequestItems: { t: { Keys: [key('A')], ...wanted } } }).every((asked) =>
        isAllowed([{ ...some, Condition }], asked),
      );
    const ExpressionAttributeNames = { '#n': 'name', '#h': 'hash' };
    expect(may({ ProjectionExpression: 'pk, #n.first', ExpressionAttributeNames })).toBe(true);
    expect(may({ ProjectionExpression: 'pk, #n, #h', ExpressionAttributeNames })).toBe(false);
    expect(may({})).toBe(false);
    for (const [operator, keys] of Object.entries(some.Condition).slice(1))
      expect(may({}, { [operator]: keys })).toBe(false);
    expect(may({}, { StringNotEquals: { 'dynamodb:Select': 'COUNT' } })).toBe(false);
  });

  it('allows a query that says that it selects, and names the attributes of its condition only', () => {
    const some = {
      ...({ Effect: 'Allow', Action: 'dynamodb:Query' } as const),
      Condition: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'name'] },
        StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      },
    };
    const asked = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ProjectionExpression: 'pk, sk, #n',
      ExpressionAttributeNames: { '#n': 'name', '#h': 'hash' },
      Select: 'SPECIFIC_ATTRIBUTES',
    };
    const may = (change: object) =>
      accessesOf('Query', { ...asked, ...change }).every((one) => isAllowed([some], one));
    expect(may({ FilterExpression: 'NOT (name IN (:a, :b)) OR size(#n) BETWEEN :c AND :d' })).toBe(true);
    for (const change of [
      ...[{ Select: undefined }, { Select: 'ALL_ATTRIBUTES' }, { ProjectionExpression: 'pk, #h' }],
      ...[{ FilterExpression: 'begins_with(hash, :x)' }, { FilterExpression: '#n.first = :x OR #h > :x' }],
    ]) {
      expect([change, may(change)]).toEqual([change, false]);
    }
    const scans = { ...some, Action: 'dynamodb:Scan' };
    const mayScan = (change: object) =>
      accessesOf('Scan', { ...asked, KeyConditionExpression: undefined, ...change }).every((one) =>
        isAllowed([scans], one),
      );
    expect(mayScan({ FilterExpression: 'begins_with(pk, :a) AND contains(sk, :b)' })).toBe(true);
    for (const change of [{ Select: undefined }, { ProjectionExpression: 'pk, #h' }])
      expect([change, mayScan(change)]).toEqual([change, false]);
  });

  it('allows a batch of writes the attributes of its condition only, of each item', () => {
    const some = {
      ...({ Effect: 'Allow', Action: 'dynamodb:BatchWriteItem' } as const),
      Condition: { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'name'] } },
    };
    const may = (...items: object[]) =>
      accessesOf('BatchWriteItem', {
        RequestItems: { t: items.map((item) => ({ PutRequest: { Item: { ...key('A'), ...item } } })) },
      }).every((asked) => isAllowed([some], asked));
    expect(may({ name: { S: 'Ada' } }, {})).toBe(true);
    expect(may({}, { hash: { S: 'x' } })).toBe(false);
  });

  it('is refused what is denied, whatever allows it', () => {
    const deny = { ...allow, Effect: 'Deny', Condition: leading('U#*') } as const;
    expect(isAllowed([allow, deny], put('U#1'))).toBe(false);
    expect(isAllowed([allow, deny], put('L#1'))).toBe(true);
  });
});

describe('the way to a guarded table', () => {
  const refusals: string[] = [];
  let engine: Listening;
  let guard: Listening;

  beforeAll(async () => {
    engine = await listen(0, async (request, response) => {
      const body = await readBody(request, 1000);
      response.writeHead(request.headers['x-test'] ? 400 : 200).end(`engine: ${body}`);
    });
    const statements = [{ Effect: 'Allow', Action: 'dynamodb:GetItem' }] as const;
    guard = await guardTable(engine.url, statements, (asked) => void refusals.push(asked));
  });
  afterAll(() => guard.stop());

  const call = async (operation: string, headers = {}) => {
    const answer = await fetch(guard.url, {
      method: 'POST',
      headers: { 'x-amz-target': `DynamoDB_20120810.${operation}`, ...headers },
      body: JSON.stringify({ Key: key('é') }),
    });
    return [answer.status, await answer.text()];
  };

  it('hands on what is allowed and the answer, and refuses the rest', async () => {
    expect(await call('GetItem')).toEqual([200, `engine: ${JSON.stringify({ Key: key('é') })}`]);
    expect((await call('GetItem', { 'x-test': '1' }))[0]).toBe(400);
    expect(await call('DeleteItem')).toEqual([400, expect.stringContaining('AccessDeniedException')]);
    expect(refusals).toEqual(['dynamodb:DeleteItem on é']);
  });

  it('breaks the connection off where the engine is gone', async () => {
    await engine.stop();
    await expect(call('GetItem')).rejects.toThrow('fetch failed');
    expect((await call('DeleteItem'))[0]).toBe(400);
  });
});
