/** `console`: each call is one entry of the run's log. The host masks, escapes, bounds and keeps it. */

import { call } from './host.ts';
import { inspect, show } from './inspect.ts';
import { now, slice, stringifyJson, text } from './primordials.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Longer lines are cut here already; the host cuts much shorter, so that no half of a secret is left. */
const LINE = 65_536;

let full = false;
let indent = '';
const counts = new Map<string, number>();
const timers = new Map<string, number>();

/** One entry. Silent once the host has said that the log is full. */
function writeLog(level: Level, line: string): void {
  if (!full) {
    full = call('log', level, slice(line, 0, LINE)) === 'full';
  }
}

function write(level: Level, parts: unknown[]): void {
  if (!full) {
    writeLog(level, indent + format(parts));
  }
}

const PLACEHOLDER = /%[sdifjoOc%]/g;

export function format(parts: unknown[]): string {
  const [first, ...rest] = parts;
  let line: string;
  if (typeof first === 'string' && rest.length > 0) {
    line = first.replace(PLACEHOLDER, (mark) =>
      mark === '%%' ? '%' : rest.length === 0 ? mark : fill(mark, rest.shift()),
    );
  } else {
    line = parts.length === 0 ? '' : show(first);
  }
  for (const part of rest) {
    if (line.length > LINE) {
      break;
    }
    line += ` ${show(part)}`;
  }
  return line;
}

function fill(mark: string, value: unknown): string {
  switch (mark) {
    case '%d':
    case '%f':
      return text(Number(value));
    case '%i':
      return text(Math.trunc(Number(value)));
    case '%c':
      return '';
    case '%s':
      return show(value);
    case '%j':
      return jsonOf(value);
    default:
      return inspect(value);
  }
}

function jsonOf(value: unknown): string {
  try {
    return text(stringifyJson(value));
  } catch {
    return inspect(value);
  }
}

const label = (name: unknown) => (name === undefined ? 'default' : show(name));

export const guestConsole = {
  debug: (...parts: unknown[]) => write('debug', parts),
  log: (...parts: unknown[]) => write('info', parts),
  info: (...parts: unknown[]) => write('info', parts),
  warn: (...parts: unknown[]) => write('warn', parts),
  error: (...parts: unknown[]) => write('error', parts),
  trace: (...parts: unknown[]) => write('debug', parts),
  dir: (value: unknown) => write('info', [inspect(value)]),
  table: (value: unknown) => write('info', [inspect(value)]),
  assert: (condition: unknown, ...parts: unknown[]) => {
    if (!condition) {
      write('error', ['Assertion failed', ...parts]);
    }
  },
  group: (...parts: unknown[]) => {
    write('info', parts);
    indent = slice(`${indent}  `, 0, 40);
  },
  groupEnd: () => {
    indent = slice(indent, 2);
  },
  count: (name?: unknown) => {
    const count = (counts.get(label(name)) ?? 0) + 1;
    counts.set(label(name), count);
    write('info', [`${label(name)}: ${count}`]);
  },
  time: (name?: unknown) => {
    timers.set(label(name), now());
  },
  timeEnd: (name?: unknown) => {
    write('info', [`${label(name)}: ${now() - (timers.get(label(name)) ?? now())} ms`]);
  },
};
