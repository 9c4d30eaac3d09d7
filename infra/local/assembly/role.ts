/** What IAM would say to a call of DynamoDB, by those rules of it that the roles of `infra/constructs/grants.ts` use. */

import { createExchanger } from '../../../shared/aws/wire/transport.ts';
import { type Listening, listen, readBody } from '../gateway/listen.ts';

/** A statement of a policy, as in a template. */
export interface RoleStatement {
  Effect: 'Allow' | 'Deny';
  Action: string | readonly string[];
  Condition?: unknown;
}

/** One action that a call needs, with the partitions that it names. */
export interface Access {
  action: string;
  /** Undefined for a scan, which names none. */
  partitions: readonly string[] | undefined;
  /**
   * Those that a query, a scan or a batch names anywhere; undefined for a batch that reads whole items, and for what changes
   * single ones.
   */
  attributes?: readonly string[] | undefined;
  /** As a query or a scan gives it. */
  select?: string | undefined;
}

type Attributes = Record<string, { S?: string }>;
type Keyed = Record<string, Attributes | undefined>;

/** The parts of a transaction by IAM's names. */
const parts: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** What a request to DynamoDB is checked for. @param operation such as `TransactWriteItems` */
export function accessesOf(operation: string, body: Record<string, unknown>): Access[] {
  const action = `dynamodb:${operation}`;
  switch (operation) {
    case 'TransactWriteItems':
      return (body.TransactItems as Record<string, Keyed>[]).flatMap((item) =>
        Object.entries(item).map(([part, { Item, Key }]) => ({
          action: `dynamodb:${parts[part] ?? part}`,
          partitions: [partitionOf(Item ?? Key)],
        })),
      );
    case 'BatchGetItem':
      return Object.values(body.RequestItems as Record<string, Requested>).map((wanted) => ({
        action,
        partitions: wanted.Keys.map(partitionOf),
        attributes: wanted.ProjectionExpression === undefined ? undefined : attributesOf(wanted),
      }));
    case 'BatchWriteItem': {
      const items = (Object.values(body.RequestItems as object) as Record<string, Keyed>[][])
        .flat()
        .map(({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key);
      const attributes = [...new Set(items.flatMap((item) => Object.keys(item ?? {})))];
      return [{ action, partitions: items.map(partitionOf), attributes }];
    }
    case 'Scan':
    case 'Query': {
      const partitions = operation === 'Scan' ? undefined : [queried(body)];
      const select = body.Select as string | undefined;
      return [{ action, partitions, attributes: attributesOf(body), select }];
    }
    default: {
      const item = (body.Item ?? body.Key) as Attributes | undefined;
      return [{ action, partitions: item && [partitionOf(item)] }];
    }
  }
}

/** The purposes whose keys of the stage a role with these statements opens. */
export function openPurposes(statements: readonly RoleStatement[]): string[] {
  return statements
    .filter(({ Effect, Action }) => Effect === 'Allow' && [Action].flat().includes('kms:Decrypt'))
    .flatMap(({ Condition }) => {
      const { StringEquals: equals = {} } = (Condition ?? {}) as {
        StringEquals?: Record<string, string | string[]>;
      };
      return [equals['kms:EncryptionContext:purpose'] ?? []].flat();
    });
}

/** Whether a role with these statements may. */
export function isAllowed(statements: readonly RoleStatement[], asked: Access): boolean {
  const matching = statements.filter(
    ({ Action, Condition }) => [Action].flat().includes(asked.action) && holds(Condition, asked),
  );
  return (
    matching.some(({ Effect }) => Effect === 'Allow') && !matching.some(({ Effect }) => Effect === 'Deny')
  );
}

/** `ForAllValues` holds too where a request has none of the values. */
function holds(condition: unknown, { partitions = [], attributes, select }: Access): boolean {
  return Object.entries((condition ?? {}) as Record<string, Record<string, string | string[]>>).every(
    ([operator, keys]) => {
      const [[key = '', wanted = []] = [], ...others] = Object.entries(keys);
      const values = [wanted].flat();
      if (others.length > 0) return false;
      switch (`${operator} ${key}`) {
        case 'ForAllValues:StringLike dynamodb:LeadingKeys': {
          const likes = values.map(asExpression);
          return partitions.every((partition) => likes.some((like) => like.test(partition)));
        }
        case 'ForAllValues:StringEquals dynamodb:Attributes':
          return (attributes ?? []).every((one) => values.includes(one));
        case 'StringEquals dynamodb:Select':
          return select !== undefined && values.includes(select);
        case 'StringEqualsIfExists dynamodb:Select':
          return values.includes(attributes ? 'SPECIFIC_ATTRIBUTES' : 'ALL_ATTRIBUTES');
        case 'Null dynamodb:Attributes':
          return values.includes(String(attributes === undefined));
        default:
          return false;
      }
    },
  );
}

/** Every call of the table asks for those of a role. */
const expressions = new Map<string, RegExp>();

function asExpression(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const made =
    expressions.get(pattern) ?? new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
  expressions.set(pattern, made);
  return made;
}

interface Expressions {
  ProjectionExpression?: string;
  KeyConditionExpression?: string;
  FilterExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
}

interface Requested extends Expressions {
  Keys: Attributes[];
}

/** The attributes themselves, not what lies in them: neither `:values`, functions nor words between them. */
function attributesOf({ ExpressionAttributeNames = {}, ...expressions }: Expressions): string[] {
  const { ProjectionExpression = '', KeyConditionExpression = '', FilterExpression = '' } = expressions;
  const text = [ProjectionExpression, KeyConditionExpression, FilterExpression].join(' ');
  const names = text.match(/(?<![.:#\w])#?[A-Za-z_]\w*\b(?!\s*\()/g) ?? [];
  const attributes = names.filter((name) => !/^(AND|OR|NOT|BETWEEN|IN)$/i.test(name));
  return [...new Set(attributes.map((name) => ExpressionAttributeNames[name] ?? name))];
}

function partitionOf(item: Attributes | undefined): string {
  return item?.pk?.S ?? '';
}

/** `#n0 = :v0 AND …`, with either side named in any way. */
function queried(body: Record<string, unknown>): string {
  const names = (body.ExpressionAttributeNames ?? {}) as Record<string, string>;
  const values = (body.ExpressionAttributeValues ?? {}) as Record<string, { S?: string }>;
  const terms = String(body.KeyConditionExpression).matchAll(/([#\w]+)\s*=\s*(:\w+)/g);
  for (const [, name = '', value = ''] of terms) {
    if ((names[name] ?? name) === 'pk') return values[value]?.S ?? '';
  }
  return '';
}

/** A request of DynamoDB may be 16 MB. */
const longestRequestBytes = 17 * 1024 * 1024;

/**
 * A way to the table for one function, which refuses as IAM would what the function's role does not allow.
 * @param onRefused is told what was asked for
 */
export async function guardTable(
  endpoint: string,
  statements: readonly RoleStatement[],
  onRefused: (asked: string) => void,
): Promise<Listening> {
  const { protocol, hostname, port } = new URL(endpoint);
  const exchanger = createExchanger();
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  const { stop, ...listening } = await listen(0, async (request, response) => {
    const body = (await readBody(request, longestRequestBytes)) ?? Buffer.alloc(0);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const refused = accessesOf(operation, JSON.parse(body.toString('utf8'))).find(
      (asked) => !isAllowed(statements, asked),
    );
    if (refused) {
      const asked = `${refused.action} on ${refused.partitions?.join(', ') ?? 'the table'}`;
      onRefused(asked);
      const __type = 'com.amazon.coral.service#AccessDeniedException';
      const message = `not authorized to perform: ${asked}`;
      return void response.writeHead(400, type).end(JSON.stringify({ __type, message }));
    }
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    try {
      const exchange = { protocol, hostname, port, method: 'POST', path: '/', headers, body };
      const answer = await exchanger.send(exchange);
      response.writeHead(answer.statusCode, { ...type, 'content-length': answer.body.length });
      response.end(answer.body);
    } catch {
      // An engine that is gone looks so to the function too, which repeats the call.
      response.destroy();
    }
  });
  return {
    ...listening,
    async stop() {
      await stop();
      exchanger.close();
    },
  };
}
