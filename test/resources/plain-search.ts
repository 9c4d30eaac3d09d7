import fc from '../setup/fast-check.ts';

/** An Observation with what the searches below look at. */
export interface Plain {
  resourceType: 'Observation';
  id: string;
  status: string;
  code: { coding?: { system?: string; code: string; display?: string }[]; text?: string };
  identifier?: { system?: string; value: string }[];
  subject?: { reference?: string; identifier?: { system: string; value: string } };
  effectiveDateTime?: string;
  effectivePeriod?: { start?: string; end?: string };
  valueQuantity?: { value: number; system?: string; code?: string };
  [element: string]: unknown;
}

/** A search parameter, and what it means, said once more as plainly as can be. */
export interface Condition {
  name: string;
  value: string;
  holds(resource: Plain): boolean;
  /** Whether Medplum's matcher reads it in the same way. */
  medplum: boolean;
}

const systems = ['urn:a', 'urn:b'];
const codes = ['x', 'y', 'Zz'];
const statuses = ['final', 'amended', 'preliminary'];
const references = ['Patient/a', 'Patient/b', 'Group/a', 'http://other.org/fhir/Patient/a'];
const dates = [
  '2026',
  '2026-01',
  '2026-02',
  '2026-01-15',
  '2026-02-10',
  '2026-01-15T10:00:00Z',
  '2026-02-10T23:59:59Z',
];
const instants = dates.slice(3);
const prefixes = ['', 'eq', 'ne', 'gt', 'ge', 'lt', 'le', 'sa', 'eb', 'ap'];
const numbers = [5, 5.4, 5.45, 100, -3];

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 3 });
const coding = fc.record(
  { system: fc.constantFrom(...systems), code: fc.constantFrom(...codes) },
  { requiredKeys: ['code'] },
);
const identifier = fc.record(
  { system: fc.constantFrom(...systems), value: fc.constantFrom('1', '2', 'a,b', 'a|b') },
  { requiredKeys: ['value'] },
);
const period = fc
  .tuple(maybe(fc.constantFrom(...instants)), maybe(fc.constantFrom(...instants)))
  .filter(([start, end]) => (start ?? end) !== undefined && (start ?? '0') <= (end ?? '9'))
  .map(([start, end]) => ({ ...(start ? { start } : {}), ...(end ? { end } : {}) }));

export const observation: fc.Arbitrary<Plain> = fc
  .record({
    status: fc.constantFrom(...statuses),
    coding: fc.array(coding, { minLength: 1, maxLength: 2 }),
    identifier: maybe(fc.array(identifier, { minLength: 1, maxLength: 2 })),
    subject: maybe(fc.constantFrom(...references)),
    named: fc.boolean(),
    date: maybe(fc.oneof(fc.constantFrom(...dates), period)),
    quantity: maybe(
      fc.record(
        {
          value: fc.constantFrom(...numbers),
          system: fc.constantFrom(...systems),
          code: fc.constantFrom('mg', 'g'),
        },
        { requiredKeys: ['value'] },
      ),
    ),
  })
  .map(({ status, coding, identifier, subject, named, date, quantity }) => ({
    resourceType: 'Observation',
    id: '',
    status,
    code: { coding },
    ...(identifier ? { identifier } : {}),
    ...(subject ? { subject: { reference: subject, ...(named ? { identifier: known } : {}) } } : {}),
    ...(typeof date === 'string' ? { effectiveDateTime: date } : date ? { effectivePeriod: date } : {}),
    ...(quantity ? { valueQuantity: quantity } : {}),
  }));

const known = { system: 'urn:a', value: 'K' };

/** Every type of parameter that Observation has, with each modifier and prefix. */
export const condition: fc.Arbitrary<Condition> = fc.oneof(
  tokens('code', ({ code }) => code.coding ?? []),
  tokens('identifier', ({ identifier = [] }) =>
    identifier.map(({ system, value }) => ({ system, code: value })),
  ),
  fc.subarray(statuses, { minLength: 1 }).map(
    (some): Condition => ({
      name: 'status',
      value: some.join(),
      holds: ({ status }) => some.includes(status),
      medplum: true,
    }),
  ),
  subjects(),
  datesAsked(),
  quantities(),
  fc.tuple(fc.constantFrom('subject', 'date', 'identifier', 'value-quantity'), fc.boolean()).map(missing),
);

interface PlainToken {
  system?: string | undefined;
  code: string;
}

function tokens(name: string, of: (resource: Plain) => PlainToken[]): fc.Arbitrary<Condition> {
  const values = name === 'code' ? codes : ['1', '2', 'a,b', 'a|b'];
  const one = fc.record({
    form: fc.constantFrom('plain', 'both', 'none', 'system'),
    system: fc.constantFrom(...systems),
    code: fc.constantFrom(...values),
  });
  return fc.tuple(fc.array(one, { minLength: 1, maxLength: 2 }), fc.boolean()).map(([wanted, isNot]) => {
    const texts = wanted.map(({ form, system, code }) => {
      const text = code.replace(/[,|]/g, '\\$&');
      return { plain: text, both: `${system}|${text}`, none: `|${text}`, system: `${system}|` }[form];
    });
    const is = (token: PlainToken) =>
      wanted.some(({ form, system, code }) => {
        const isCode = token.code.toLowerCase() === code.toLowerCase();
        if (form === 'plain') return isCode;
        if (form === 'both') return isCode && token.system === system;
        return form === 'none' ? isCode && token.system === undefined : token.system === system;
      });
    return {
      name: isNot ? `${name}:not` : name,
      value: texts.join(),
      holds: (resource) => of(resource).some(is) !== isNot,
      medplum: wanted.every(({ code }) => !/[,|]/.test(code)),
    };
  });
}

function subjects(): fc.Arbitrary<Condition> {
  const literal = fc.constantFrom(...references).map((text) => ({
    name: 'subject',
    value: text,
    holds: ({ subject }: Plain) => subject?.reference === text,
    medplum: true,
  }));
  const byId = fc.constantFrom('a', 'b').map((id) => ({
    name: 'subject',
    value: id,
    holds: ({ subject }: Plain) => [`Patient/${id}`, `Group/${id}`].includes(subject?.reference ?? ''),
    medplum: false,
  }));
  const typed = fc.constantFrom('a', 'b').map((id) => ({
    name: 'subject:Patient',
    value: id,
    holds: ({ subject }: Plain) => subject?.reference === `Patient/${id}`,
    medplum: false,
  }));
  const patient = fc.constantFrom('a', 'b').map((id) => ({
    name: 'patient',
    value: `Patient/${id}`,
    holds: ({ subject }: Plain) => subject?.reference === `Patient/${id}`,
    medplum: true,
  }));
  const named = fc.constantFrom('K', 'urn:a|K', 'urn:b|K').map((text) => ({
    name: 'subject:identifier',
    value: text,
    holds: ({ subject }: Plain) => subject?.identifier !== undefined && text !== 'urn:b|K',
    medplum: false,
  }));
  return fc.oneof(literal, byId, typed, patient, named);
}

const day = 86_400_000;

/** From the first millisecond of a date to the one before its end. */
function stretch(text: string): [number, number] {
  if (text.includes('T')) return [Date.parse(text), Date.parse(text) + 999];
  const [year = 0, month, date] = text.split('-').map(Number);
  if (date !== undefined) return [Date.parse(text), Date.parse(text) + day - 1];
  const from = Date.UTC(year, (month ?? 1) - 1);
  return [from, (month === undefined ? Date.UTC(year + 1, 0) : Date.UTC(year, month)) - 1];
}

function datesOf({ effectiveDateTime, effectivePeriod }: Plain): [number, number] | undefined {
  if (effectiveDateTime) return stretch(effectiveDateTime);
  if (!effectivePeriod) return undefined;
  const { start, end } = effectivePeriod;
  return [
    start ? stretch(start)[0] : Number.NEGATIVE_INFINITY,
    end ? stretch(end)[1] : Number.POSITIVE_INFINITY,
  ];
}

/** R4 search, prefixes, on ranges. */
function compares(prefix: string, [low, high]: [number, number], [from, to]: [number, number]): boolean {
  switch (prefix) {
    case '':
    case 'eq':
      return from <= low && high <= to;
    case 'ne':
      return !(from <= low && high <= to);
    case 'gt':
      return high > to;
    case 'ge':
      return high >= from;
    case 'lt':
      return low < from;
    case 'le':
      return low <= to;
    case 'sa':
      return low > to;
    case 'eb':
      return high < from;
    default:
      return low <= to && from <= high;
  }
}

function datesAsked(): fc.Arbitrary<Condition> {
  return fc.tuple(fc.constantFrom(...prefixes), fc.constantFrom(...dates)).map(([prefix, text]) => ({
    name: 'date',
    value: prefix + text,
    holds: (resource) => {
      const own = datesOf(resource);
      return own !== undefined && compares(prefix, own, stretch(text));
    },
    medplum: ['gt', 'ge', 'lt', 'le', 'sa', 'eb'].includes(prefix),
  }));
}

function quantities(): fc.Arbitrary<Condition> {
  const unit = fc.constantFrom('', '||mg', '|urn:a|g', '|urn:b|');
  const number = fc.constantFrom('5', '5.4', '5.40', '5.45', '100', '1e2', '-3');
  return fc.tuple(fc.constantFrom(...prefixes), number, unit).map(([prefix, text, unit]) => ({
    name: 'value-quantity',
    value: prefix + text + unit,
    holds: ({ valueQuantity: own }) =>
      own !== undefined && isUnit(own, unit) && isNumber(prefix, own.value, text),
    medplum: false,
  }));
}

function isUnit({ system, code }: { system?: string; code?: string }, unit: string): boolean {
  const [, wantedSystem = '', wantedCode = ''] = unit.split('|');
  return (!wantedSystem || system === wantedSystem) && (!wantedCode || code === wantedCode);
}

/** Half of the last digit to both sides, for equality; a tenth, for `ap`. */
const halves: Record<string, number> = {
  '5': 0.5,
  '5.4': 0.05,
  '5.40': 0.005,
  '5.45': 0.005,
  '100': 0.5,
  '1e2': 50,
  '-3': 0.5,
};

function isNumber(prefix: string, own: number, text: string): boolean {
  const wanted = Number(text);
  const half = halves[text] ?? 0;
  if (['', 'eq', 'ne'].includes(prefix)) {
    const isEqual = own >= wanted - half && own < wanted + half;
    return isEqual === (prefix !== 'ne');
  }
  if (prefix === 'ap') return Math.abs(own - wanted) <= Math.abs(wanted) / 10;
  return compares(prefix, [own, own], [wanted, wanted]);
}

function missing([name, isMissing]: [string, boolean]): Condition {
  const present: Record<string, (resource: Plain) => boolean> = {
    subject: ({ subject }) => subject !== undefined,
    date: (resource) => datesOf(resource) !== undefined,
    identifier: ({ identifier }) => identifier !== undefined,
    'value-quantity': ({ valueQuantity }) => valueQuantity !== undefined,
  };
  return {
    name: `${name}:missing`,
    value: String(isMissing),
    holds: (resource) => present[name]?.(resource) !== isMissing,
    medplum: true,
  };
}
