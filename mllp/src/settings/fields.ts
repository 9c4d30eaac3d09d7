import { readFile, stat } from 'node:fs/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { errorText, typedEntries } from '../../../shared/base/values.ts';

/** What is wrong with the settings, with the place. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Reads an object of settings field by field; what nobody asked for is refused at the end. */
export class Fields {
  readonly #fields: Map<string, unknown>;
  readonly #place: string;

  constructor(value: unknown, place = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new SettingsError(`${place || 'The settings'} must be a JSON object`);
    }
    this.#fields = new Map(Object.entries(value));
    this.#place = place;
  }

  text(name: string): string | undefined {
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
    return this.#take(name, isText, 'must be a text');
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.wrong(name, 'is missing');
    return value;
  }

  /** A whole number within bounds. */
  number(name: string, least: number, most: number): number | undefined {
    const isWithin = (value: unknown): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
    return this.#take(name, isWithin, `must be a whole number from ${least} to ${most}`);
  }

  texts(name: string): string[] | undefined {
    const areTexts = (value: unknown): value is string[] =>
      Array.isArray(value) && value.every((one) => typeof one === 'string');
    return this.#take(name, areTexts, 'must be a list of texts');
  }

  objects(name: string): Fields[] | undefined {
    const list = this.#take(name, (value) => Array.isArray(value), 'must be a list of objects');
    return list?.map((one, at) => new Fields(one, this.#path(`${name}[${at}]`)));
  }

  object(name: string): Fields | undefined {
    const value = this.#take(name, (given) => given !== undefined, '');
    return value === undefined ? undefined : new Fields(value, this.#path(name));
  }

  /** The value of `read`, whose error gets the place. */
  read<Value>(name: string, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (error instanceof SettingsError) throw error;
      throw this.wrong(name, errorText(error));
    }
  }

  end(): void {
    const [name] = this.#fields.keys();
    if (name !== undefined) throw this.wrong(name, 'is not a setting');
  }

  wrong(name: string, what: string): SettingsError {
    return new SettingsError(`${this.#path(name)} ${what}`);
  }

  #take<Value>(name: string, isRight: (given: unknown) => given is Value, what: string): Value | undefined {
    const given = this.#fields.get(name);
    this.#fields.delete(name);
    if (given === undefined || isRight(given)) return given;
    throw this.wrong(name, what);
  }

  #path(name: string): string {
    return this.#place === '' ? name : `${this.#place}.${name}`;
  }
}

/** `2575` (this machine only), `host:2575`, `[::]:2575`. @throws {Error} */
export function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]/\s]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) throw new Error('must be a port or host:port');
  return { host: match[1]?.replace(/^\[|\]$/g, '') ?? '127.0.0.1', port };
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '');
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d+){3}$/.test(plain);
}

/** Which addresses may connect. @param entries addresses and networks in CIDR notation @throws {Error} naming the entry */
export function allowList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (version === 0 || rest.length > 0 || !(bits <= most)) {
      throw new Error(`must be addresses or networks such as 10.1.0.0/16, not ${JSON.stringify(entry)}`);
    }
    list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** IPv4 as a socket that listens to both tells it: `::ffff:10.1.2.3`. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * The client's secret: from its file, read anew each time, else from the environment.
 * @throws {SettingsError} there is none. The text never holds the secret
 */
export async function readSecret(
  file: string | undefined,
  fromEnvironment: string | undefined,
): Promise<string> {
  if (file === undefined) {
    if (fromEnvironment) return fromEnvironment;
    throw new SettingsError('No client secret: set PORTICO_CLIENT_SECRET or --client-secret-file');
  }
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SettingsError(`The file of the client secret cannot be read: ${error.code}`);
  });
  const secret = text.trim();
  if (secret === '' || /\s/.test(secret)) {
    throw new SettingsError('The file of the client secret must hold the secret and nothing else');
  }
  return secret;
}

/** Files in PEM. With `ca` on a listener its callers must show a certificate that it signed. */
export type TlsFiles = Record<'cert' | 'key' | 'ca', string | undefined>;

/** What stands in them. */
export async function readTlsFiles(files: TlsFiles): Promise<Partial<Record<keyof TlsFiles, Buffer>>> {
  const named = typedEntries(files).flatMap(([name, file]) => (file === undefined ? [] : [{ name, file }]));
  const read = named.map(async ({ name, file }) => [name, await readFile(file)] as const);
  return Object.fromEntries(await Promise.all(read));
}

/** Whether others than its owner and group may read a file. */
export async function isReadByAll(file: string): Promise<boolean> {
  return ((await stat(file)).mode & 0o004) !== 0;
}
