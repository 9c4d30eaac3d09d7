import { fieldsOf } from '../../../shared/fields-of.ts';

/**
 * A value of a FHIR data type in a line, as people write it: a name, a coded concept, a quantity, a period.
 * @returns undefined for what is no such value: its fields are shown one by one
 */
export function formatValue(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return dateIn(value) ?? value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    const texts = value.map(formatValue);
    return texts.every((text) => text !== undefined) ? texts.join(', ') : undefined;
  }
  const fields = fieldsOf(value);
  const shape = shapes.find(({ has, only }) => has.some((name) => name in fields) && isOnly(fields, only));
  return shape?.text(fields);
}

interface Shape {
  /** One of these it has … */
  has: readonly string[];
  /** … and nothing beside these. */
  only: readonly string[];
  text(fields: Record<string, unknown>): string;
}

const common = ['id', 'extension', 'use'];

const shapes: readonly Shape[] = [
  {
    has: ['family', 'given'],
    only: ['text', 'family', 'given', 'prefix', 'suffix', 'period'],
    text: ({ text, prefix, given, family, suffix }) =>
      String(text ?? joined(' ', prefix, given, family, suffix)),
  },
  {
    has: ['coding'],
    only: ['coding', 'text'],
    text: ({ text, coding }) => String(text ?? formatValue(coding)),
  },
  { has: ['coding', 'text'], only: ['text'], text: ({ text }) => String(text) },
  {
    has: ['code', 'display'],
    only: ['system', 'version', 'code', 'display', 'userSelected'],
    text: ({ display, code }) => String(display ?? code),
  },
  {
    has: ['start', 'end'],
    only: ['start', 'end'],
    text: ({ start, end }) => `${formatValue(start) || '…'} to ${formatValue(end) || '…'}`,
  },
  {
    has: ['line', 'city', 'country', 'postalCode'],
    only: ['type', 'text', 'line', 'city', 'district', 'state', 'postalCode', 'country', 'period'],
    text: ({ text, line, postalCode, city, state, country }) =>
      String(text ?? joined(', ', line, joined(' ', postalCode, city), state, country)),
  },
  {
    has: ['value'],
    only: ['value', 'comparator', 'unit', 'system', 'code', 'rank', 'type', 'period', 'assigner'],
    text: ({ comparator, value, unit, code, system }) =>
      typeof value === 'number'
        ? joined(' ', comparator, value, unit ?? code)
        : joined(' ', value, system === undefined ? undefined : `(${system})`),
  },
];

function isOnly(fields: Record<string, unknown>, only: readonly string[]): boolean {
  return Object.keys(fields).every((name) => only.includes(name) || common.includes(name));
}

function joined(separator: string, ...parts: readonly unknown[]): string {
  return parts
    .flat()
    .filter((part) => part !== undefined && part !== '')
    .join(separator);
}

const instants = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function dateIn(text: string): string | undefined {
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  return isInstant && !Number.isNaN(Date.parse(text)) ? instants.format(new Date(text)) : undefined;
}
