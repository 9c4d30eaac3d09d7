import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { type Compiled, originOf } from '../../shared/bots/run/contract.ts';
import { createSandbox, type Sandbox, superviseCompile } from '../../shared/bots/sandbox/supervisor.ts';
import { returned, runOf } from './bot-runs.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

function compile(source: string, filename = 'index.js'): Promise<Compiled> {
  return sandbox.compile({
    kind: 'compile',
    project: 'project-a',
    filename,
    source,
    // Only the compiler's own time is bounded, whatever else runs on the machine.
    deadlineAtMs: Date.now() + 120_000,
  });
}

async function compiled(source: string, filename?: string): Promise<Extract<Compiled, { kind: 'compiled' }>> {
  const result = await compile(source, filename);
  if (result.kind !== 'compiled') throw new Error(result.message);
  return result;
}

/** What a Bot of this source returns. */
async function valueFrom(source: string, filename = 'index.js'): Promise<unknown> {
  const { format, text } = await compiled(source, filename);
  return returned(await sandbox.run(runOf(text, { format, filename })));
}

const handler = 'function h(){return 7}';

describe('the kind of a module', () => {
  test.each([
    [`${handler}export{h as handler};`, 'esm'],
    [`const a={};${handler}export{h as handler}`, 'esm'],
    [`/* a */export const handler=()=>7`, 'esm'],
    [`let x = 1; /* export */ export { x as other }; export const handler = () => 7`, 'esm'],
    [
      // As esbuild bundles CommonJS into an ES module.
      'var c=(f,m)=>()=>(m||f((m={exports:{}}).exports,m),m.exports);var r=c((exports,module)=>{module.exports={n:7}});var v=r();export function handler(){return v.n}',
      'esm',
    ],
    ["import{getReferenceString as g}from'@medplum/core';export const handler=()=>g?7:0", 'esm'],
    ['import.meta; export const handler = () => 7', 'esm'],
    ['exports.handler = () => 7', 'cjs'],
    ['module.exports = { handler: () => 7 }; // export const', 'cjs'],
    ['exports.handler = () => 7; const text = `\nexport const handler = 1\n`', 'cjs'],
    ["exports.handler = async () => { await import('@medplum/core'); return 7 }", 'cjs'],
    ['exports.handler = () => /[/]export {/.test("") ? 1 : 7', 'cjs'],
  ])('of %j is %s, whatever its name', async (source, format) => {
    const all = new Map<string, string>();
    for (const filename of ['index.js', 'index.ts', format === 'esm' ? 'index.mjs' : 'index.cjs']) {
      const result = await compiled(source, filename);
      expect(result.format).toBe(format);
      all.set(result.text, filename);
    }
    // What is compiled to one text runs as one.
    for (const [text, filename] of all) {
      expect(returned(await sandbox.run(runOf(text, { format: format as 'esm' | 'cjs', filename })))).toBe(7);
    }
  });

  test.each([
    ['export const a = 1', 'a.cjs', 'cjs'],
    ['exports.a = 1', 'a.mjs', 'esm'],
    ['exports.a = 1 as number', 'a.cts', 'cjs'],
    ['const a: number = 1', 'a.mts', 'esm'],
  ])('of %j is what its name %s says', async (source, filename, format) => {
    expect((await compiled(source, filename)).format).toBe(format);
  });

  test('of a million line ends is found in linear time', async () => {
    const lines = '\n'.repeat(1_000_000);
    expect((await compiled(`${lines}exports.a = 1`)).format).toBe('cjs');
    expect((await compiled(`${lines} \t export const a = 1`)).format).toBe('esm');
  });
});

describe('import()', () => {
  test.each([
    [
      "export const handler = async () => (await import('@medplum/core')).getReferenceString({ resourceType: 'A', id: 'b' })",
      'A/b',
    ],
    ["exports.handler = async () => typeof (await import('hl7-standard')).default", 'function'],
    [
      "const name = '@medplum/' + 'core'; export const handler = async () => typeof (await import(name)).default.MedplumClient",
      'function',
    ],
    [
      "export const handler = async () => { const a = import /* b */ ('@medplum/core'); return (await a) === (await import('@medplum/core')) }",
      true,
    ],
    [
      "export const handler = () => import('left' + '-pad').catch((e) => e.message)",
      expect.stringContaining("'left-pad'"),
    ],
    [
      "export const handler = () => import({ toString() { throw new Error('no name') } }).catch((e) => e.message)",
      'no name',
    ],
    ["export const handler = () => 'import(1)' + /import('a')/.source", "import(1)import('a')"],
  ])('%j gives %j', async (source, value) => {
    expect(await valueFrom(source)).toEqual(value);
  });
});

describe('a refusal names line and column', () => {
  test.each([
    ["\n  import x from 'lodash';", 'a.js', "'lodash'", 2, 18],
    ["export { y } from './y.js';", 'a.js', 'one file', 1, 20],
    ["const a = 1;\nexport const handler = () => import('node:fs')", 'a.js', "'node:fs'", 2, 30],
    ["import type { A } from 'types-only';\nimport net from 'net';", 'a.ts', "'net'", 2, 18],
    [
      "enum A {\n  B,\n}\n  import q from 'q';\nexport const handler = () => [A.B, q];",
      'a.ts',
      "'q'",
      4,
      expect.any(Number),
    ],
    ['type A = string;\nconst a: = 1;', 'a.ts', 'Unexpected token', 2, expect.any(Number)],
    ['const \u00e9 = 1;\r\nconst b: = 1;', 'a.ts', 'Unexpected token', 2, expect.any(Number)],
  ])('%j as %s', async (source, filename, message, line, column) => {
    const refused = await compile(source, filename);
    expect(refused).toEqual({ kind: 'refused', message: expect.stringContaining(message), line, column });
  });

  test('but not what types alone import', async () => {
    const source =
      "import type { A } from './a';\nimport { type B } from './b';\nexport const handler = (): A | B => 1;";
    expect(await compile(source, 'a.ts')).toMatchObject({ kind: 'refused', line: 2 });
    const whole =
      "import type { A } from './a';\nexport type { C } from './c';\nexport const handler = (): A => 1;";
    expect(await valueFrom(whole, 'a.ts')).toBe(1);
  });
});

test('types are blanked: lines and columns stay', async () => {
  const { text, places } = await compiled(
    'const a: string = "x";\nexport const handler = (b: number) => b;',
    'a.ts',
  );
  expect(text.split('\n\n')[0]).toBe('const a         = "x";\nexport const handler = (b        ) => b;');
  expect(places).toBeUndefined();
});

test('what is rewritten comes with its places', async () => {
  const source = 'enum A {\n  B,\n}\n\nexport const handler = () => { throw new Error(String(A.B)) };\n';
  const { text, places = [] } = await compiled(source, 'a.ts');
  expect(places.length % 4).toBe(0);
  for (const word of ['throw', 'new Error', 'String(']) {
    const line = text.split('\n').findIndex((one) => one.includes(word));
    const column = text.split('\n')[line]?.indexOf(word) ?? -1;
    expect(originOf(places, { line: line + 1, column: column + 1 })).toEqual({
      line: 5,
      column: (source.split('\n')[4]?.indexOf(word) ?? -1) + 1,
    });
  }
});

test('a syntax error of JavaScript is left to the engine', async () => {
  for (const source of ['export const handler = ;', 'exports.handler = (', 'const a = `${', "const a = '"]) {
    expect((await compile(source)).kind).toBe('compiled');
  }
});

describe('a text that', () => {
  const deep = (levels: number) =>
    `type A=${'{a:'.repeat(levels)}1${'}'.repeat(levels)};export const handler=()=>1`;

  test.each([
    ['is nested 1,000 levels', deep(1_000)],
    ['is nested 200,000 levels', deep(200_000)],
    ['has 4 MiB of open brackets', '['.repeat(4 * 1024 * 1024)],
  ])('%s is an answer, and the next text compiles', async (_name, source) => {
    const { kind, ...said } = await compile(source, 'a.ts');
    expect(kind).toBe('refused');
    expect(JSON.stringify(said)).not.toMatch(/node|wasm|memory access|stack/i);
    expect((await compiled('const a: number = 1', 'a.ts')).text).toContain('const a         = 1');
  });

  test('is noise is an answer', async () => {
    for (let round = 0; round < 2; round++) {
      const source = randomBytes(20_000).toString('latin1');
      for (const filename of ['a.js', 'a.ts']) {
        expect(['compiled', 'refused']).toContain((await compile(source, filename)).kind);
      }
    }
  });

  test('takes more memory than it may is refused, and its process is gone', async () => {
    const source = 'a,'.repeat(1_000_000);
    const request = {
      kind: 'compile',
      project: 'p',
      filename: 'a.ts',
      source,
      deadlineAtMs: Date.now() + 120_000,
    } as const;
    const bounds = { cpuMs: 10_000, memoryMb: 150 };
    expect(await superviseCompile(await cachedGuest(), request, bounds)).toEqual({
      kind: 'refused',
      message: 'The code takes more than 150 MiB of memory to be compiled',
    });
  });

  test.each([
    [
      'than a text may is refused',
      120_000,
      { kind: 'refused', message: expect.stringContaining('within 300 ms') },
    ],
    ['than a full queue has left for it is no fault of its author', 200, undefined],
  ])('takes longer %s', async (_what, leftMs, refused) => {
    const source = `enum A {B}\n${'export function f(a: number): number { return a; }\n'.repeat(60_000)}`;
    const beganAtMs = Date.now();
    const request = { kind: 'compile', project: 'p', filename: 'a.ts', source } as const;
    const bounds = { cpuMs: 300, memoryMb: 640 };
    const compiling = superviseCompile(
      await cachedGuest(),
      { ...request, deadlineAtMs: beganAtMs + leftMs },
      bounds,
    );
    if (refused) expect(await compiling).toEqual(refused);
    else await expect(compiling).rejects.toThrow('Too little time was left to compile');
    expect(Date.now() - beganAtMs).toBeLessThan(60_000);
  });
});
