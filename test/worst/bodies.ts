/** Bodies near 4 MiB, and near each other bound, that make the most work. */
const mebibyte = 1024 * 1024;

export const text = (bytes: number) => 'x'.repeat(bytes);

export const list = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** JSON of as many values as 4 MiB holds. */
export const manyValues = `[${'{},'.repeat(1_390_000)}0]`;

const more = list(Math.floor((3.9 * mebibyte) / 16), (n) => `"f${String(n).padStart(8, '0')}":0`).join(',');

/** A JSON object of many fields beside those that the route asks for. */
export function withMany(fields: object): string {
  const own = JSON.stringify(fields).slice(1, -1);
  return `{${own}${own && ','}${more}}`;
}

/** A JSON object with one long text in a field. */
export const withLong = (fields: object, name: string) =>
  JSON.stringify({ ...fields, [name]: text(4 * mebibyte - 4000) });

/** A form of as many fields as 4 MiB holds. */
export const manyFields = list(380_000, (n) => `f${String(n).padStart(7, '0')}=1`).join('&');

export const longForm = (fields: Record<string, string>, name: string) =>
  `${new URLSearchParams({ ...fields, [name]: text(4 * mebibyte - 4000) })}`;

export const manySegments = `MSH|^~\\&|A|B|C|D|20250101||ADT^A01|1|P|2.5\r${'Z|1\r'.repeat(1_040_000)}`;

export const longCode = `export const handler = () => 1;\n${'f(a,[{b:1}]);\n'.repeat(290_000)}`;

interface Resource {
  resourceType: string;
  [name: string]: unknown;
}

export const patientWith = (identifiers: number, from = 0): Resource => ({
  resourceType: 'Patient',
  identifier: list(identifiers, (n) => ({ system: 'urn:many', value: `v${from + n}` })),
});

/** As many values as JSON that is worked on may hold, each of them checked. */
export const patientOfValues = (): Resource => ({
  resourceType: 'Patient',
  contact: list(7400, () => ({ name: { given: ['Ann'], text: 'A', use: 'usual' }, gender: 'female' })),
});

export const longPatient = (): Resource => ({
  resourceType: 'Patient',
  photo: [{ contentType: 'image/png', data: text(4 * mebibyte - 4096) }],
});

export const bundle = (type: 'batch' | 'transaction', entry: object[]) =>
  JSON.stringify({ resourceType: 'Bundle', type, entry });

export const get = (url: string) => ({ request: { method: 'GET', url } });

export const post = (resource: Resource, ifNoneExist?: string) => ({
  resource,
  request: { method: 'POST', url: resource.resourceType, ...(ifNoneExist ? { ifNoneExist } : {}) },
});

/** Rules that match nothing: of one policy as many as it may hold, of another as many alternatives as rules may have. */
export function manyRules(nth: number): object[] {
  const word = (i: number) => (1000 + i).toString(36);
  const alternatives = Array.from({ length: 199 }, (_, i) => word(i)).join(',');
  const queries =
    nth % 2 === 0
      ? Array.from({ length: 70 }, (_, i) => `name:contains=${nth}z${i},${alternatives}`)
      : Array.from({ length: 400 }, (_, i) => `name=${nth}z${word(i)}`);
  return queries.map((query) => ({ resourceType: 'Patient', criteria: `Patient?${query}` }));
}
