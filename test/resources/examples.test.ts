import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseJson, stringifyJson } from '../../shared/base/json.ts';
import { longestSearchValue } from '../../shared/base/limits.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readBinary, readResource, withData } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { maskSecrets } from '../../shared/records/subscriptions/secrets.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { contentOf } from '../../shared/records/write/parse-resource.ts';
import { indexKeys } from '../../shared/store/index/index-items.ts';
import { type KeyRange, nameOfRange } from '../../shared/store/index/key-range.ts';
import { matchesAll } from '../../shared/store/search/filter.ts';
import { firstEntryIn, sourcesOf } from '../../shared/store/search/find-hits.ts';
import { parseSearch } from '../../shared/store/search/search-request.ts';
import { isLong } from '../setup/long.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { type OwnSearch, ownSearches } from './own-searches.ts';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));
const mostBytes = 4 * 1024 * 1024;
const atOnce = 6;

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
});

afterAll(() => stage.stop());

/**
 * All of them in the long form; else every fiftieth, and each that has a value for a parameter of its type that
 * none before it had.
 */
function chosenOf(all: readonly Sent[]): readonly Sent[] {
  if (isLong) return all;
  const seen = new Set<string>();
  return all.filter(({ resource }, at) => {
    const names = ownSearches(resource).map(({ code }) => `${resource.resourceType}.${code}`);
    const isFirst = names.some((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isFirst || at % 50 === 0;
  });
}

/** What the first test stores and the others look for, as it was read back. */
const kept: Resource[] = [];

/** Several files hold the same resource; a memory of what was sent last tells what must be read. */
interface Sent {
  file: string;
  resource: Resource;
}

function examples(): { sent: Sent[]; tooLarge: number } {
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.json') && !/^(package|\.index)/.test(name),
  );
  const texts = files.map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
  const fitting = texts.filter(({ text }) => Buffer.byteLength(text) <= mostBytes);
  const all = fitting.map(({ file, text }) => ({ file, resource: parseJson(text) as Resource }));
  const byName = new Map(all.map((one) => [`${one.resource.resourceType}/${one.resource.id}`, one]));
  return { sent: [...byName.values()], tooLarge: texts.length - fitting.length };
}

async function inParallel<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const work = all.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of work) await run(one);
    }),
  );
}

/** Ours to say, and so not compared. */
function withoutOwnMeta(resource: Resource): string {
  const { versionId: _v, lastUpdated: _l, project: _p, author: _a, ...meta } = resource.meta ?? {};
  const { meta: _m, ...elements } = resource;
  return stringifyJson({ ...elements, ...(Object.keys(meta).length > 0 ? { meta } : {}) });
}

/** Element order inside a resource has no meaning, and ours puts the meta first. */
function inOrder(resource: Resource): string {
  return stringifyJson(
    Object.fromEntries(
      Object.entries(parseJson(withoutOwnMeta(resource)) as object).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  );
}

describe('the R4 examples', () => {
  test('are stored, and read back equal to the digit', async () => {
    const { sent: all, tooLarge } = examples();
    const sent = chosenOf(all);
    const refusals = new Map<string, string[]>();
    const stored: Resource[] = [];
    const startedAt = performance.now();
    await inParallel(sent, async ({ file, resource }) => {
      const { resourceType: type, id } = resource;
      const content = contentOf(resource);
      try {
        await carryOut(stage.services, caller, [{ kind: 'update', type, id, ...content }]);
        stored.push(resource);
      } catch (error) {
        if (!(error instanceof Refusal)) throw new Error(`${file}: ${(error as Error).stack}`);
        const [issue] = error.issues;
        const reason = `${error.kind}: ${issue?.text} (${issue?.expression?.replace(/\d+/g, 'n')})`;
        refusals.set(reason, [...(refusals.get(reason) ?? []), file]);
      }
    });
    const storedMs = performance.now() - startedAt;

    const different: string[] = [];
    await inParallel(stored, async (resource) => {
      const { resourceType: type, id } = resource;
      const read =
        type === 'Binary'
          ? withData(await readBinary(stage.services, caller, { id }))
          : (await readResource(stage.services, caller, { type, id })).resource;
      // Headers of a Subscription are kept under seal.
      const wanted = type === 'Subscription' ? maskSecrets(resource).body : resource;
      if (inOrder(read) !== inOrder(wanted)) different.push(`${type}/${id}`);
      kept.push(read);
    });
    const totalMs = performance.now() - startedAt;

    const counts = {
      resources: sent.length,
      'over 4 MiB': tooLarge,
      stored: stored.length,
      refused: sent.length - stored.length,
      'write ms': Math.round(storedMs),
      'all ms': Math.round(totalMs),
    };
    const reasons = [...refusals].map(([reason, files]) => `${files.length} ${reason}: ${files[0]}`);
    process.stdout.write(`${JSON.stringify(counts)}\n${reasons.join('\n')}\n`);
    expect(different).toEqual([]);
    expect(stored.length).toBeGreaterThan(isLong ? 5000 : 400);
  }, 900_000);

  test('have an index item for every value of every parameter', async () => {
    const missing: string[] = [];
    let items = 0;
    await inParallel(kept, async (resource) => {
      const wanted = [...indexKeys(caller.project, resource).values()];
      const found = await stage.services.table.read(wanted);
      items += wanted.length;
      missing.push(...wanted.filter((key) => !found.get(key)).map(({ pk, sk }) => `${pk} ${sk}`));
    });
    process.stdout.write(`${items} index items, ${(items / kept.length).toFixed(1)} a resource\n`);
    expect(missing.slice(0, 10)).toEqual([]);
  }, 900_000);

  test('are found by every parameter of their own, where an index leads', () => {
    const lost: string[] = [];
    let values = 0;
    for (const resource of kept) {
      const keysOfIt = indexKeys('x', resource);
      for (const { name, value } of ownSearches(resource)) {
        if (value.length > longestSearchValue) continue;
        const { filters } = parseSearch(
          resource.resourceType,
          new URLSearchParams([[name, value]]),
          undefined,
        );
        const sources = sourcesOf(filters);
        const isLed = sources.every(({ keyRanges }) => isIndexed(keysOfIt, keyRanges, resource));
        // A date of the resource itself is its own, and is looked up in the list.
        if (!isLed || !matchesAll(resource, filters) || (sources.length === 0 && name !== '_lastUpdated')) {
          lost.push(`${resource.resourceType}?${name}=${value} ${resource.id}`);
        }
        values++;
      }
    }
    process.stdout.write(`${values} values of ${kept.length} resources\n`);
    expect(lost.slice(0, 10)).toEqual([]);
    expect(values).toBeGreaterThan(isLong ? 20_000 : 3000);
  }, 900_000);

  test('are found by each parameter of their type, and none is found beside them', async () => {
    const wrong: string[] = [];
    const asked = new Map<string, { resource: Resource; search: OwnSearch }>();
    for (const resource of kept) {
      for (const search of ownSearches(resource)) {
        asked.set(`${resource.resourceType}.${search.code}`, { resource, search });
      }
    }
    let hits = 0;
    await inParallel([...asked.values()], async ({ resource: { resourceType: type }, search }) => {
      if (search.name === '_lastUpdated') return;
      const query = new URLSearchParams([[search.name, search.value]]);
      const { filters } = parseSearch(type, query, undefined);
      const right = kept.filter((one) => one.resourceType === type && matchesAll(one, filters));
      const found = await findAll(type, query);
      hits += found.length;
      if (
        found.sort().join() !==
        right
          .map(({ id }) => id)
          .sort()
          .join()
      ) {
        wrong.push(`${type}?${search.name}=${search.value}: ${found.length} of ${right.length}`);
      }
    });
    process.stdout.write(`${asked.size} parameters searched, ${hits} hits\n`);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(asked.size).toBeGreaterThan(500);
  }, 900_000);
});

function isIndexed(items: ReadonlyMap<string, Key>, ranges: readonly KeyRange[], resource: Resource) {
  const place = firstEntryIn(ranges, 'in turn')(resource);
  const at = ranges.find((range) => nameOfRange(range) === place?.range);
  if (!at || !place) return false;
  const { pk } = keys.index('x', resource.resourceType, at.index, at.bucket, '');
  return at.index === '_id' || items.has(`${pk}\n${place.sk}`);
}

async function findAll(type: string, query: URLSearchParams): Promise<string[]> {
  const found: string[] = [];
  for (const page = new URLSearchParams([...query, ['_count', '1000']]); ; ) {
    const { entry = [], link = [] } = await searchResources(stage.services, caller, { type, query: page });
    found.push(...entry.map(({ resource }) => String((resource as Resource).id)));
    const next = link.find(({ relation }) => relation === 'next');
    if (!next) return found;
    page.set('_cursor', new URL(next.url).searchParams.get('_cursor') ?? '');
  }
}
