import { invalidField } from '../../base/refusal.ts';
import { anyOf, type Filter, matchesAll, parseFilter, requireParameter, unindexed } from './filter.ts';

/**
 * R4 `_filter`: comparisons with `and`, `or`, `not(…)` and parentheses.
 * @returns conditions that must all hold
 * @throws {Refusal} invalid, when any part of it is not understood
 */
export function parseExpression(type: string, text: string): Filter[] {
  const tokens = tokenize(text.trimEnd());
  const filters = parseGroup(type, tokens, 0);
  if (tokens.length > 0) throw wrong(`${tokens[0]?.text} is not expected`);
  return filters;
}

interface Token {
  kind: 'word' | 'text' | 'bracket';
  text: string;
}

const form = /\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))/sy;
const deepest = 10;
const mostTokens = 400;

/** @param text without spaces at its end */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  form.lastIndex = 0;
  while (form.lastIndex < text.length) {
    if (tokens.length === mostTokens) throw wrong(`it has more than ${mostTokens} words and parentheses`);
    const found = form.exec(text);
    if (!found) throw wrong('a quote is not closed');
    const [, bracket, quoted, word] = found;
    if (bracket !== undefined) tokens.push({ kind: 'bracket', text: bracket });
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted.replace(/\\(.)/gs, '$1') });
    else tokens.push({ kind: 'word', text: word ?? '' });
  }
  return tokens;
}

/** Operands joined by one operator: parentheses say which of two binds tighter. */
function parseGroup(type: string, tokens: Token[], depth: number): Filter[] {
  if (depth > deepest) throw wrong('it is nested too deeply');
  const operands = [parseOperand(type, tokens, depth)];
  let operator: string | undefined;
  while (tokens[0]?.kind === 'word' && /^(and|or)$/.test(tokens[0].text)) {
    const next = tokens.shift()?.text;
    if (operator !== undefined && next !== operator) {
      throw wrong('put parentheses where and and or meet');
    }
    operator = next;
    operands.push(parseOperand(type, tokens, depth));
  }
  return operator === 'or' ? [anyOf(operands.map(nameOf).join(' or '), operands)] : operands.flat();
}

function parseOperand(type: string, tokens: Token[], depth: number): Filter[] {
  const token = tokens.shift();
  if (!token) throw wrong('it ends too early');
  if (token.kind === 'bracket' && token.text === '(') return parseInner(type, tokens, depth);
  if (token.kind !== 'word') throw wrong(`${token.text} is not expected`);
  if (token.text === 'not' && tokens[0]?.text === '(') {
    tokens.shift();
    return [not(parseInner(type, tokens, depth))];
  }
  const [operator, value] = [tokens.shift(), tokens.shift()];
  if (operator?.kind !== 'word' || !value || value.kind === 'bracket') {
    throw wrong(`${token.text} needs an operator and a value`);
  }
  return compare(type, token.text, operator.text, value.text);
}

function parseInner(type: string, tokens: Token[], depth: number): Filter[] {
  const inner = parseGroup(type, tokens, depth + 1);
  if (tokens.shift()?.text !== ')') throw wrong('a parenthesis is not closed');
  return inner;
}

/** One comparison as the search parameter that says the same. */
function compare(type: string, code: string, operator: string, text: string): Filter[] {
  const parameter = requireParameter(type, code, '_filter');
  const value = text.replace(/[\\,$]/g, '\\$&');
  const isRange = ['date', 'number', 'quantity'].includes(parameter.type);
  const filter = (modifier: string, asked: string) =>
    parseFilter(type, modifier ? `${code}:${modifier}` : code, asked);
  if (isRange && /^(eq|ne|gt|lt|ge|le|sa|eb|ap)$/.test(operator)) return filter('', operator + value);
  const equal = parameter.type === 'string' ? 'exact' : '';
  switch (operator) {
    case 'eq':
      return filter(equal, value);
    case 'ne':
      return [not(filter(equal, value))];
    case 'co':
    case 'sw':
      if (parameter.type === 'string') return filter(operator === 'co' ? 'contains' : '', value);
      break;
    case 're':
      if (parameter.type === 'reference') return filter('', value);
      break;
    case 'pr':
      if (text === 'true' || text === 'false') return filter('missing', String(text === 'false'));
      break;
  }
  throw wrong(`${operator} is not supported for ${code}`);
}

function not(filters: readonly Filter[]): Filter {
  return unindexed(
    `not ${nameOf(filters)}`,
    filters,
    (resource, step) => !matchesAll(resource, filters, step),
  );
}

function nameOf(filters: readonly Filter[]): string {
  return filters.map(({ name }) => name).join(' and ');
}

function wrong(why: string): Error {
  return invalidField('_filter', `_filter cannot be understood: ${why}`);
}
