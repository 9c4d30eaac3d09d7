import type { Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { isResourceType } from '../index/registry.ts';
import { Refusal, type RefusalIssue } from '../refusal.ts';
import { readCriteria } from '../search/criteria.ts';
import type { Filter } from '../search/filter.ts';
import { type Interaction, interactions } from './change.ts';
import { headerFaults, parseEndpoint, type Target } from './channel.ts';
import { extensionsOf } from './extensions.ts';
import { parseSuccessCodes, type SuccessCodes, usualSuccess } from './success-codes.ts';

const statuses = ['requested', 'active', 'error', 'off'] as const;

/** A Subscription (R4) as we carry it out. */
export interface Subscription {
  id: string;
  status: (typeof statuses)[number];
  /** After which it is as good as off, in ms since the epoch. */
  endsAtMs: number | undefined;
  /** Of the records that wake it. */
  type: string;
  /** All of which a record must match. */
  filters: readonly Filter[];
  /** FHIRPath beside them. */
  expression: string | undefined;
  interactions: readonly Interaction[];
  target: Target;
  /** Whether a URL is sent the record; a Bot always is. */
  sendsRecord: boolean;
  successCodes: SuccessCodes;
  maxAttempts: number;
}

const defaultAttempts = 4;
const mostAttempts = 18;
const longestExpression = 2_000;
const mostSecrets = 2;

/**
 * Reads a Subscription that R4 finds valid.
 * @throws {Refusal} unprocessable, an issue per fault with the element as expression
 */
export function parseSubscription(resource: Resource, allowsLoopback: boolean): Subscription {
  const issues: RefusalIssue[] = [];
  const wrong = (expression: string, text: string) => void issues.push({ expression, text });
  const channel = fieldsOf(resource.channel);
  if (channel.type !== 'rest-hook') wrong('channel.type', 'The channel must be a rest-hook');
  const target = parseEndpoint(channel.endpoint, allowsLoopback);
  if (!target) wrong('channel.endpoint', 'The endpoint must be Bot/<id> or an https URL without credentials');
  const { header = [] } = channel;
  if (!Array.isArray(header)) wrong('channel.header', 'The headers must be a list');
  for (const { at, text } of Array.isArray(header) ? headerFaults(header) : []) {
    wrong(`channel.header[${at}]`, text);
  }
  const payload = channel.payload;
  if (payload !== undefined && payload !== 'application/fhir+json') {
    wrong('channel.payload', 'The payload must be application/fhir+json, or left out');
  }
  if (extensionsOf(resource, 'secret').length > mostSecrets) {
    wrong('extension', `A Subscription has at most ${mostSecrets} secrets`);
  }
  const status = statuses.find((one) => one === resource.status);
  if (!status) wrong('status', 'The status is not one of a Subscription');
  const criteria = readTypedCriteria(resource.criteria, wrong);
  const parsed = { ...criteria, ...readExtensions(resource, wrong) };
  if (issues.length > 0 || !target || !status) {
    throw new Refusal('unprocessable', 'The Subscription is not valid', { issues });
  }
  return {
    id: resource.id,
    status,
    endsAtMs: typeof resource.end === 'string' ? Date.parse(resource.end) : undefined,
    ...parsed,
    target,
    sendsRecord: payload !== undefined,
  };
}

type Wrong = (expression: string, text: string) => void;

/** `Type?param=value&…`, or the type alone for every record of it. */
function readTypedCriteria(text: unknown, wrong: Wrong): Pick<Subscription, 'type' | 'filters'> {
  const [type = '', query = ''] = String(text).split(/\?(.*)/s);
  if (!isResourceType(type) || type === 'AuditEvent' || type === 'User') {
    wrong('criteria', `The criteria must be a search of one type of record, not of ${type}`);
    return { type, filters: [] };
  }
  try {
    return { type, filters: query === '' ? [] : readCriteria(type, query) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const issue of error.issues) {
      const at = issue.expression === undefined ? '' : `${issue.expression}: `;
      wrong('criteria', `${at}${issue.text}`);
    }
    return { type, filters: [] };
  }
}

function readExtensions(
  resource: Resource,
  wrong: Wrong,
): Pick<Subscription, 'expression' | 'interactions' | 'successCodes' | 'maxAttempts'> {
  const single = (name: Parameters<typeof extensionsOf>[1]) => {
    const [first, second] = extensionsOf(resource, name);
    if (second) wrong(second.expression, 'The extension may be there once');
    return first;
  };
  const asked = extensionsOf(resource, 'interaction').flatMap(({ extension, expression }) => {
    const one = interactions.find((known) => known === extension.valueCode);
    if (!one) wrong(expression, 'The interaction must be create, update or delete');
    return one ?? [];
  });
  const expression = single('expression');
  const text = expression?.extension.valueString;
  if (expression && (typeof text !== 'string' || text === '' || text.length > longestExpression)) {
    wrong(expression.expression, `The expression must be a text of up to ${longestExpression} characters`);
  }
  const codes = single('successCodes');
  const successCodes = codes ? parseSuccessCodes(codes.extension.valueString) : usualSuccess;
  if (codes && !successCodes) wrong(codes.expression, 'Success codes are written like 200-299,404');
  const most = single('maxAttempts');
  const maxAttempts = most ? most.extension.valueInteger : defaultAttempts;
  const isCount = Number.isInteger(maxAttempts) && Number(maxAttempts) >= 1;
  if (!isCount || Number(maxAttempts) > mostAttempts) {
    wrong(most?.expression ?? 'extension', `The number of attempts is 1 to ${mostAttempts}`);
  }
  return {
    expression: typeof text === 'string' ? text : undefined,
    interactions: asked.length > 0 ? asked : interactions,
    successCodes: successCodes ?? usualSuccess,
    maxAttempts: Number(maxAttempts),
  };
}
