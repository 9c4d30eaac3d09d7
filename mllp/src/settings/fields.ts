import { errorText } from '../../../shared/error-name.ts';

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
    const value = this.#take(name);
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw this.wrong(name, 'must be a text');
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.wrong(name, 'is missing');
    return value;
  }

  /** A whole number within bounds. */
  number(name: string, least: number, most: number): number | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    throw this.wrong(name, `must be a whole number from ${least} to ${most}`);
  }

  texts(name: string): string[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    throw this.wrong(name, 'must be a list of texts');
  }

  objects(name: string): Fields[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.wrong(name, 'must be a list of objects');
    return value.map((one, at) => new Fields(one, this.#path(`${name}[${at}]`)));
  }

  object(name: string): Fields | undefined {
    const value = this.#take(name);
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

  #take(name: string): unknown {
    const value = this.#fields.get(name);
    this.#fields.delete(name);
    return value;
  }

  #path(name: string): string {
    return this.#place === '' ? name : `${this.#place}.${name}`;
  }
}
