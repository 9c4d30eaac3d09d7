import { array, exactOptional, object } from 'valibot';
import { Recent } from '../../base/recent.ts';
import { Refusal, type RefusalIssue } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import { fieldsOf, typedKeys } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { type RunCaller, runCaller } from '../../identity/gate/access-token.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { inlineResource, isStanding } from '../../store/items/content.ts';
import type { Filter } from '../../store/search/filter.ts';
import { readCriteria } from '../../store/search/search-request.ts';
import { type ChangeInteraction, interactions } from './change.ts';

type Target = { kind: 'bot'; botId: string } | { kind: 'url'; url: string };

/** Of each request: named in lower case, set by us or by HTTP itself. */
const ownHeader =
  /^(?:x-medplum-.*|x-portico-.*|x-signature|traceparent|tracestate|content-type|host|content-length|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect)$/;

const mostHeaders = 20;

/** `Bot/<id>` or a URL; undefined for what is neither. @param allowsLoopback http to this machine, on a laptop only */
function parseEndpoint(endpoint: unknown, allowsLoopback: boolean): Target | undefined {
  if (typeof endpoint !== 'string') return undefined;
  const botId = /^Bot\/([^/]+)$/.exec(endpoint)?.[1];
  if (botId !== undefined) return isId(botId) ? { kind: 'bot', botId } : undefined;
  if (!URL.canParse(endpoint)) return undefined;
  const { protocol, hostname, username, password, href } = new URL(endpoint);
  if (username !== '' || password !== '') return undefined;
  const isAllowed = protocol === 'https:' || (allowsLoopback && protocol === 'http:' && isLoopback(hostname));
  return isAllowed ? { kind: 'url', url: href } : undefined;
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** `Name: value`; undefined when it is none. The name keeps its case. */
export function parseHeader(text: unknown): { name: string; value: string } | undefined {
  if (typeof text !== 'string' || text.length > 4_000) return undefined;
  const [, name = '', value = ''] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\x20-\x7e\t]*)$/.exec(text) ?? [];
  return name === '' ? undefined : { name, value: value.trim() };
}

function checkHeaders(header: unknown, wrong: Wrong): void {
  if (!Array.isArray(header)) wrong('channel.header', 'The headers must be a list');
  const seen = new Set<string>();
  for (const [at, text] of Array.isArray(header) ? header.entries() : []) {
    const place = `channel.header[${at}]`;
    const name = at < mostHeaders ? parseHeader(text)?.name.toLowerCase() : undefined;
    if (at >= mostHeaders) wrong(place, `A channel has at most ${mostHeaders} headers`);
    else if (name === undefined) wrong(place, 'A header is written `Name: value`');
    else if (ownHeader.test(name)) wrong(place, `The header ${name} is not for a Subscription to set`);
    else if (seen.has(name)) wrong(place, `The header ${name} is there twice`);
    else seen.add(name);
  }
}

/** The extensions of a Subscription that existing ones carry, by what they say. */
const names = {
  interaction: 'subscription-supported-interaction',
  expression: 'fhir-path-criteria-expression',
  successCodes: 'subscription-success-codes',
  maxAttempts: 'subscription-max-attempts',
  secret: 'subscription-secret',
} as const;

export type ExtensionName = keyof typeof names;

/** An extension as it stands in a resource; nothing of it is checked yet. */
export interface Extension {
  url?: unknown;
  valueCode?: unknown;
  valueString?: unknown;
  valueInteger?: unknown;
}

/** Both spellings of the host are in use. */
const prefix = /^https:\/\/(?:www\.)?medplum\.com\/fhir\/StructureDefinition\//;

/** Which of ours it is; undefined for any other. */
export function extensionName({ url }: Extension): ExtensionName | undefined {
  if (typeof url !== 'string' || !prefix.test(url)) return undefined;
  const own = url.replace(prefix, '');
  return typedKeys(names).find((name) => names[name] === own);
}

/** All of a resource's extensions of one name, each with its place. */
export function extensionsOf(
  resource: object,
  name: ExtensionName,
): { extension: Extension; expression: string }[] {
  const { extension: all } = fieldsOf(resource);
  if (!Array.isArray(all)) return [];
  return all.flatMap((extension: Extension, i) =>
    extensionName(extension ?? {}) === name ? [{ extension, expression: `extension[${i}]` }] : [],
  );
}

type SuccessCodes = readonly (readonly [from: number, to: number])[];

const usualSuccess: SuccessCodes = [[200, 299]];

/** `200-299,404`. Undefined when it cannot be read. */
function parseSuccessCodes(text: unknown): SuccessCodes | undefined {
  if (typeof text !== 'string' || text.length > 200) return undefined;
  const ranges = text.split(',').map((part) => {
    const [, from = '', to = from] = /^\s*([1-5]\d\d)\s*(?:-\s*([1-5]\d\d)\s*)?$/.exec(part) ?? [];
    return [Number(from || Number.NaN), Number(to || Number.NaN)] as const;
  });
  return ranges.every(([from, to]) => from <= to) ? ranges : undefined;
}

export function isSuccess(codes: SuccessCodes, status: number): boolean {
  return codes.some(([from, to]) => status >= from && status <= to);
}

const statuses = ['requested', 'active', 'error', 'off'] as const;

/** A Subscription (R4) as we carry it out. */
export interface Subscription {
  id: string;
  status: (typeof statuses)[number];
  /** After which it is as good as off, in ms since the epoch. */
  endsAtMs: number | undefined;
  type: string;
  /** All of which a record must match. */
  filters: readonly Filter[];
  expression: string | undefined;
  interactions: readonly ChangeInteraction[];
  target: Target;
  /** Whether a URL is sent the record; a Bot always is. */
  sendsRecord: boolean;
  successCodes: SuccessCodes;
  maxAttempts: number;
}

const defaultAttempts = 4;
const mostAttempts = 18;
const longestCriteria = 4_000;
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
  const { header = [], payload } = channel;
  checkHeaders(header, wrong);
  if (payload !== undefined && payload !== 'application/fhir+json') {
    wrong('channel.payload', 'The payload must be application/fhir+json, or left out');
  }
  if (extensionsOf(resource, 'secret').length > mostSecrets) {
    wrong('extension', `A Subscription has at most ${mostSecrets} secrets`);
  }
  const status = statuses.find((one) => one === resource.status);
  if (!status) wrong('status', 'The status is not one of a Subscription');
  const criteria = readTypedCriteria(resource.criteria, wrong);
  const extensions = readExtensions(resource, wrong);
  if (issues.length > 0 || !target || !status) {
    throw new Refusal('unprocessable', 'The Subscription is not valid', { issues });
  }
  return {
    ...{ id: resource.id, status, target, ...criteria, ...extensions },
    endsAtMs: typeof resource.end === 'string' ? Date.parse(resource.end) : undefined,
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
  // Each process that matches changes reads them.
  if (query.length > longestCriteria) {
    wrong('criteria', `The criteria are longer than ${longestCriteria} characters`);
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
  const single = (name: ExtensionName) => {
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

/** A Subscription as it stands in the table. */
export interface StandingSubscription {
  subscription: Subscription;
  /** Who saved it last, and in whose name they acted. */
  author: readonly RunCaller[];
  versionId: string;
}

const readHead = stored('Subscription', object({ writer: exactOptional(array(runCaller)) }));

/** Those of the latest versions that were read: every change of a type asks for all of its Subscriptions. */
const read = new Recent<Subscription>(1000);

/** What is read of the head of one whose content is remembered. */
export const rememberedAttributes: readonly string[] = ['versionId', 'deleted', 'writer'];

/** What that version says, if it was read before. */
export function rememberedOf(head: Item | undefined, allowsLoopback: boolean): Subscription | undefined {
  return head && read.get(nameOf(head, allowsLoopback));
}

function nameOf({ pk, versionId }: Item, allowsLoopback: boolean): string {
  return `${pk} ${versionId} ${allowsLoopback}`;
}

/**
 * @param remembered of this version
 * @returns undefined when it is deleted, off or has ended
 */
export function standingOf(
  head: Item | undefined,
  nowMs: number,
  allowsLoopback: boolean,
  remembered = rememberedOf(head, allowsLoopback),
): StandingSubscription | undefined {
  if (!isStanding(head)) return undefined;
  const resource = remembered ? undefined : inlineResource('Subscription', head);
  const subscription = remembered ?? (resource && parseSubscription(resource, allowsLoopback));
  if (!subscription) return undefined;
  read.set(nameOf(head, allowsLoopback), subscription);
  const hasEnded = subscription.endsAtMs !== undefined && subscription.endsAtMs <= nowMs;
  if (subscription.status === 'off' || hasEnded) return undefined;
  const { writer: author = [] } = readHead(head);
  return { subscription, author, versionId: String(head.versionId) };
}
