import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { routes } from '../functions/routes.ts';

const root = resolve(import.meta.dirname, '..');

describe('the route table', () => {
  test('has no row twice', () => {
    const rows = Object.values(routes).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(rows).size).toBe(rows.length);
  });

  test.each(Object.entries(routes))('%s is served by its function', (name, route) => {
    const handler = readFileSync(join(root, 'functions', route.function, 'handler.ts'), 'utf8');
    expect(handler).toContain(`routes.${name}`);
  });

  test.each(Object.entries(routes))('%s has a spec that calls it', (_name, route) => {
    const specs = readdirSync(join(root, 'test/spec'), { encoding: 'utf8' })
      .map((file) => readFileSync(join(root, 'test/spec', file), 'utf8'))
      .join('\n');
    const fixed = route.path
      .split('/')
      .filter((part) => part !== '' && !part.startsWith('{') && part !== '$default');
    expect(fixed.filter((part) => !specs.includes(part))).toEqual([]);
  });
});
