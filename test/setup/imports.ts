import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** What one file imports of another, or of a package. */
export interface Import {
  file: string;
  /** `type`: nothing is loaded. `later`: loaded when it is first needed. */
  kind: 'value' | 'type' | 'later';
  /** A path from the root for our own files, else the package's name. */
  target: string;
}

/** @param file a path from the root */
export function importsOf(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8');
  const specifiers = [...source.matchAll(/(?:^|\n)\s*(?:import|export)\s([^;'"`]*?)from\s+'([^']+)'/g)]
    .concat([...source.matchAll(/\bimport(\()\s*'([^']+)'\s*\)/g)])
    .map(([, names = '', specifier = '']) => ({ names, specifier }));
  return specifiers.map(({ names, specifier }) => ({
    file,
    kind: names === '(' ? 'later' : isOfTypes(names) ? 'type' : 'value',
    target: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  }));
}

/** `type A` and `{ type A, type B }`. */
function isOfTypes(names: string): boolean {
  const listed = /^\{(.*)\}$/s.exec(names.trim())?.[1]?.split(',') ?? [names];
  return listed.every((name) => /^\s*(type\s.*)?$/s.test(name));
}
