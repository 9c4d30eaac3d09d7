import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseJson } from '../../shared/base/json.ts';
import { errorText, fieldsOf, isObject } from '../../shared/base/values.ts';

/**
 * Cuts the elements of the array `entry` out of a JSON object that comes in chunks, so that a Bundle of any length
 * is read an entry at a time. No more of its syntax is checked than that needs: each element is parsed by whoever
 * gets it.
 */
export class EntryScanner {
  /** Texts of the top level that have come so far, such as `resourceType` and `type`. */
  readonly head = new Map<string, string>();
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inEntries = false;
  /** The last string of the top level, and the one before a colon. */
  #text = '';
  #key: string | undefined;
  /** What has come of the element that is open. */
  #element: string | undefined;

  /** @returns the elements that end in this chunk, as JSON text */
  push(chunk: string): string[] {
    const elements: string[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk.charAt(at);
      if (this.#inString) {
        this.#readString(character);
      } else if (character === '"') {
        this.#inString = true;
        if (this.#depth === 1) this.#text = '';
      } else if (character === '{' || character === '[') {
        if (this.#depth === 1) this.#inEntries = character === '[' && this.#key === 'entry';
        if (this.#depth === 2 && this.#inEntries) [this.#element, from] = ['', at];
        this.#depth += 1;
      } else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#depth < 0) throw new SyntaxError('More brackets are closed than opened');
        if (this.#depth === 2 && this.#element !== undefined) {
          elements.push(this.#element + chunk.slice(from, at + 1));
          this.#element = undefined;
        }
      } else if (this.#depth === 1) {
        this.#readTop(character);
      }
    }
    if (this.#element !== undefined) this.#element += chunk.slice(from);
    return elements;
  }

  /** @throws {SyntaxError} when the object has not ended */
  end(): void {
    if (this.#depth > 0 || this.#inString) throw new SyntaxError('The JSON ends too early');
  }

  #readString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') {
      this.#inString = false;
      if (this.#depth === 1 && this.#key !== undefined) this.head.set(this.#key, this.#text);
      return;
    }
    if (this.#depth === 1) this.#text += character;
  }

  #readTop(character: string): void {
    if (character === ':') this.#key = this.#text;
    if (character === ',') this.#key = undefined;
  }
}

/** One thing to load, where it stands. */
export interface Entry {
  file: string;
  /** Entry of a Bundle or line of a file, from 1. */
  number: number;
  fullUrl: string | undefined;
  request: { method?: unknown; ifNoneExist?: unknown } | undefined;
  resource: unknown;
}

/** What could not be read as an entry: told, and passed over. */
export interface Unreadable {
  file: string;
  number: number;
  reason: string;
}

/** Bundles whose entries are resources of their own; a document or a message is one thing. */
const collections = new Set(['transaction', 'batch', 'collection', 'searchset']);

/** Every file that a list of files and folders names, folders in the order of names. @throws Node's error */
export async function filesOf(sources: readonly string[]): Promise<string[]> {
  const files = await Promise.all(
    sources.map(async (source) => {
      if (!(await stat(source)).isDirectory()) return [source];
      const names = await readdir(source, { recursive: true, withFileTypes: true });
      return names
        .filter((entry) => entry.isFile() && /\.(json|ndjson|jsonl)$/i.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
    }),
  );
  return files.flat();
}

/** All that is in a file: NDJSON by its name, else a Bundle or a resource. Held in memory one at a time. */
export async function* readEntries(file: string): AsyncGenerator<Entry | Unreadable> {
  try {
    yield* /\.(ndjson|jsonl)$/i.test(file) ? readLines(file) : readJson(file);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    yield { file, number: 0, reason: `Not JSON: ${error.message}` };
  }
}

export function isReadable(one: Entry | Unreadable): one is Entry {
  return !('reason' in one);
}

async function* readLines(file: string): AsyncGenerator<Entry | Unreadable> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    const text = line.replace(/^\uFEFF/, '').trim();
    if (text === '') continue;
    const value = parsed(file, number, text);
    yield* 'reason' in value ? [value] : entriesOf(file, number, value.value);
  }
}

async function* readJson(file: string): AsyncGenerator<Entry | Unreadable> {
  const scanner = new EntryScanner();
  let number = 0;
  for await (const chunk of createReadStream(file, 'utf8')) {
    const elements = scanner.push(String(chunk));
    // What says no more than this before its first entry is one resource, and read whole.
    if (number === 0 && elements.length > 0 && !isCollection(scanner.head)) break;
    for (const text of elements) {
      number += 1;
      const value = parsed(file, number, text);
      yield 'reason' in value ? value : entryOf(file, number, value.value);
    }
  }
  if (number > 0) return scanner.end();
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  yield* entriesOf(file, 1, parseJson(text));
}

function isCollection(head: ReadonlyMap<string, string>): boolean {
  const [resourceType = 'Bundle', type = 'collection'] = [head.get('resourceType'), head.get('type')];
  return resourceType === 'Bundle' && collections.has(type);
}

function parsed(file: string, number: number, text: string): { value: unknown } | Unreadable {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    return { file, number, reason: `Not JSON: ${errorText(error)}` };
  }
}

/** A whole value: the entries of a Bundle, or a resource. */
function* entriesOf(file: string, number: number, value: unknown): Generator<Entry | Unreadable> {
  const { resourceType, type, entry } = fieldsOf(value);
  if (resourceType !== 'Bundle' || !collections.has(String(type))) {
    yield { file, number, fullUrl: undefined, request: undefined, resource: value };
    return;
  }
  for (const [at, element] of (Array.isArray(entry) ? entry : []).entries())
    yield entryOf(file, at + 1, element);
}

function entryOf(file: string, number: number, element: unknown): Entry {
  const { fullUrl, request, resource } = fieldsOf(element);
  return {
    file,
    number,
    fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
    request: isObject(request) ? request : undefined,
    resource,
  };
}
