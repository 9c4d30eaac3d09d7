import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Import, importsOf } from './setup/imports.ts';

const root = resolve(import.meta.dirname, '..');
const filesIn = (folders: readonly string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  );
const files = filesIn(['functions', 'shared', 'infra', 'mllp/src']);
const everyFile = [...files, ...filesIn(['web', 'client/src', 'bench'])];

const imports = files.flatMap(importsOf);

const importsFrom = (prefix: string) => imports.filter(({ file }) => file.startsWith(prefix));
const named = (found: Import[]) => found.map(({ file, target }) => `${file} -> ${target}`);

/** Of `shared`: a room imports what stands above it in this list, and nothing below. */
const rooms = ['base', 'carry', 'store', 'identity', 'bots', 'records', 'aws', 'composition'];
const roomOf = (path: string) => rooms.indexOf(path.split('/')[1] ?? '');

/** What identity and Bots ask of records: what lists, and what a Bot is brought. */
const doorsOfRecords = ['shared/records/subscriptions/listed.ts', 'shared/records/subscriptions/own-bot.ts'];
/** The page of routes, which the CapabilityStatement shows. */
const pageOfRoutes = 'functions/routes.ts';

/** Files that import each other in a loop, each loop once. */
function circles(): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of everyFile.flatMap(importsOf))
    targets.set(file, [...(targets.get(file) ?? []), target]);
  const reachable = (from: string) => {
    const seen = new Set<string>();
    const next = [...(targets.get(from) ?? [])];
    for (let file = next.pop(); file; file = next.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      next.push(...(targets.get(file) ?? []));
    }
    return seen;
  };
  return everyFile.filter((file) => reachable(file).has(file));
}

/** The longest chain of files that load with a file. */
function chainFrom(file: string, known: Map<string, string[]>): string[] {
  const before = known.get(file);
  if (before) return before;
  const below = imports
    .filter((one) => one.file === file && one.kind === 'value' && files.includes(one.target))
    .map(({ target }) => chainFrom(target, known));
  const chain = [file, ...(below.toSorted((a, b) => b.length - a.length)[0] ?? [])];
  known.set(file, chain);
  return chain;
}

describe('the rooms of shared', () => {
  test('each file stands in one', () => {
    expect(files.filter((file) => file.startsWith('shared/') && roomOf(file) < 0)).toEqual([]);
  });

  test('none imports what stands below it', () => {
    const up = importsFrom('shared/').filter(
      ({ file, target }) =>
        target.startsWith('shared/') && !doorsOfRecords.includes(target) && roomOf(target) > roomOf(file),
    );
    expect(named(up)).toEqual([]);
    const throughDoors = importsFrom('shared/').filter(
      ({ file, target }) => doorsOfRecords.includes(target) && roomOf(file) < roomOf(target),
    );
    expect([...new Set(throughDoors.map(({ file }) => file))].sort()).toEqual([
      'shared/bots/bot/change-secrets.ts',
      'shared/bots/bot/versions.ts',
      'shared/identity/projects/change-settings.ts',
    ]);
  });

  test('no files import each other in a circle, not even for types', () => {
    expect(circles()).toEqual([]);
  });

  test('no function loads a file by more than 14 imports, nor does what is loaded later', () => {
    const known = new Map<string, string[]>();
    const handlers = files.filter((file) => /^functions\/[^/]+\/handler\.ts$/.test(file));
    const later = imports.filter(({ kind }) => kind === 'later').map(({ target }) => target);
    const chains = [...handlers, ...later.filter((file) => files.includes(file))].map((file) =>
      chainFrom(file, known),
    );
    expect(Math.max(...chains.map((chain) => chain.length - 1))).toBeGreaterThan(5);
    expect(chains.filter((chain) => chain.length - 1 > 14).map((chain) => chain.join(' > '))).toEqual([]);
  });

  test('no folder has more than 25 files', () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > 25)).toEqual([]);
  });
});

describe('the house', () => {
  test('has imports to look at', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test('a function imports no other function', () => {
    const wrong = importsFrom('functions/').filter(({ file, target }) => {
      const own = file.split('/').slice(0, 2).join('/');
      return (
        target.startsWith('functions/') && target !== 'functions/routes.ts' && !target.startsWith(`${own}/`)
      );
    });
    expect(named(wrong)).toEqual([]);
  });

  test('shared imports neither functions nor infra', () => {
    const wrong = importsFrom('shared/').filter(
      ({ file, target }) =>
        /^(functions|infra)\//.test(target) &&
        !(target === pageOfRoutes && file.startsWith('shared/records/')),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('functions do not import infra', () => {
    expect(named(importsFrom('functions/').filter(({ target }) => target.startsWith('infra/')))).toEqual([]);
  });

  test('AWS clients stay behind their adapters', () => {
    const allowed = (file: string, target: string) =>
      file.startsWith('shared/aws/') ||
      file.startsWith('infra/') ||
      (file.startsWith('shared/carry/table/') && target === '@aws-sdk/lib-dynamodb');
    const wrong = imports.filter(
      ({ file, target }) => target.startsWith('@aws-sdk/') && !allowed(file, target),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('Lambda types stay at the edge', () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        target === 'aws-lambda' &&
        !/^shared\/(carry\/http|identity\/gate)\//.test(file) &&
        !file.endsWith('/handler.ts') &&
        !file.startsWith('infra/'),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('the sandbox is a leaf', () => {
    const wrong = [...importsFrom('shared/bots/sandbox/'), ...importsFrom('functions/invoker/')].filter(
      ({ target }) =>
        /^(shared|functions)\//.test(target) &&
        !/^shared\/(bots\/(sandbox|hl7)|carry\/address-guard)\/|^shared\/base\/(limits|values)\.ts$|^shared\/bots\/run\/(contract|payload)\.ts$|^functions\/invoker\//.test(
          target,
        ),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('the MLLP program takes from us the client, the HL7 messages, the limits, gates and leaves', () => {
    const wrong = importsFrom('mllp/').filter(
      ({ target }) =>
        !/^(mllp|client\/src|shared\/bots\/hl7)\/|^shared\/base\/(limits|gate|values)\.ts$|^node:/.test(
          target,
        ),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('only handlers read the environment', () => {
    const wrong = files.filter(
      (file) =>
        /^(functions|shared)\//.test(file) &&
        !file.endsWith('/handler.ts') &&
        readFileSync(join(root, file), 'utf8').includes('process.env'),
    );
    expect(wrong).toEqual([]);
  });

  test('OperationOutcomes are built in one file', () => {
    const wrong = files.filter(
      (file) =>
        /^(functions|shared)\//.test(file) &&
        file !== 'shared/carry/http/response.ts' &&
        /resourceType: 'OperationOutcome'/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('an exported type has its name to itself (docs/glossary.md)', () => {
    // The client is a package of its own, whose types are the API's.
    const own = everyFile.filter((file) => !/^(client|bench)\//.test(file));
    const declared = own.flatMap((file) =>
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /^export (?:declare )?(?:interface|type|class) (\w+)/gm,
        ),
      ].map(([, name = '']) => ({ name, file })),
    );
    expect(declared.length).toBeGreaterThan(500);
    const several = [...Map.groupBy(declared, ({ name }) => name)].filter(([, of]) => of.length > 1);
    expect(several.map(([name, of]) => [name, ...of.map(({ file }) => file)])).toEqual([]);
  });

  test('texts that were sent are normalised in one place, which knows what that can cost', () => {
    const wrong = files.filter(
      (file) =>
        /^(functions|shared|mllp|client)\//.test(file) &&
        file !== 'shared/base/values.ts' &&
        /(?<!path)\.normalize\(/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('queries and forms that were sent are read in one place, which knows what that can cost', () => {
    // The other two read what has another bound: a request line, and 64 KB.
    const readers = [
      'shared/base/schema.ts',
      'shared/carry/http/request.ts',
      'shared/identity/tokens/token-request.ts',
    ];
    const wrong = files.filter(
      (file) =>
        /^(functions|shared)\/(?!bots\/sandbox\/guest\/)/.test(file) &&
        !readers.includes(file) &&
        /new URLSearchParams\((?![{[)]|Object\.entries)/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  // These packages are part of what Portico was ordered as: requests pass through middy.
  test.each(['@middy/core', '@middy/http-json-body-parser'])('HTTP handlers are made with %s', (name) => {
    expect(named(importsFrom('shared/carry/http/').filter(({ target }) => target === name))).not.toEqual([]);
  });

  test.each(['aws-cdk-lib', '@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', 'hl7-standard'])(
    '%s is in use',
    (name) => {
      const using = imports.filter(({ target }) => target === name || target.startsWith(`${name}/`));
      expect(named(using)).not.toEqual([]);
    },
  );

  test('nothing is called utils, common or helpers', () => {
    expect(files.filter((file) => /\/(utils?|common|helpers?|types)(\.ts|\/)/.test(file))).toEqual([]);
  });
});
