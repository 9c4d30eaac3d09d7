/** Checks JSON text in one pass without building a value: a hostile result must cost the host nothing. */

const LITERALS = ['true', 'false', 'null'];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const UNICODE_ESCAPE = /\\u[0-9a-fA-F]{4}/y;

/** The depth of nesting (0 for a scalar); undefined when it is no JSON text (RFC 8259). */
export function jsonDepth(text: string): number | undefined {
  const open: string[] = [];
  let deepest = 0;
  let index = skipSpace(text, 0);
  let expect: 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'next' = 'value';

  for (;;) {
    const mark = text[index];
    if (expect === 'next') {
      if (open.length === 0) {
        return index === text.length ? deepest : undefined;
      }
      if (mark === ',') {
        expect = open.at(-1) === '{' ? 'key' : 'value';
      } else if (mark === (open.at(-1) === '{' ? '}' : ']')) {
        open.pop();
      } else {
        return undefined;
      }
      index += 1;
    } else if ((expect === 'value-or-end' && mark === ']') || (expect === 'key-or-end' && mark === '}')) {
      open.pop();
      expect = 'next';
      index += 1;
    } else if (expect === 'key' || expect === 'key-or-end') {
      const colon = skipSpace(text, stringEnd(text, index) ?? text.length);
      if (text[colon] !== ':') {
        return undefined;
      }
      expect = 'value';
      index = colon + 1;
    } else if (mark === '{' || mark === '[') {
      open.push(mark);
      deepest = Math.max(deepest, open.length);
      expect = mark === '{' ? 'key-or-end' : 'value-or-end';
      index += 1;
    } else {
      const end = scalarEnd(text, index);
      if (end === undefined) {
        return undefined;
      }
      expect = 'next';
      index = end;
    }
    index = skipSpace(text, index);
  }
}

function scalarEnd(text: string, index: number): number | undefined {
  if (text[index] === '"') {
    return stringEnd(text, index);
  }
  const literal = LITERALS.find((word) => text.startsWith(word, index));
  return literal === undefined ? match(NUMBER, text, index) : index + literal.length;
}

function stringEnd(text: string, start: number): number | undefined {
  if (text[start] !== '"') {
    return undefined;
  }
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      return index + 1;
    }
    const next = code === 0x5c ? escapeEnd(text, index) : index + 1;
    if (next === undefined || code < 0x20) {
      return undefined;
    }
    index = next;
  }
  return undefined;
}

function escapeEnd(text: string, index: number): number | undefined {
  const mark = text[index + 1];
  if (mark === 'u') {
    return match(UNICODE_ESCAPE, text, index);
  }
  return mark !== undefined && '"\\/bfnrt'.includes(mark) ? index + 2 : undefined;
}

function match(pattern: RegExp, text: string, index: number): number | undefined {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (text[index] === ' ' || text[index] === '\n' || text[index] === '\r' || text[index] === '\t') {
    index += 1;
  }
  return index;
}
