import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readEverything } from '../../shared/records/read/everything.ts';
import { readHistory, readTypeHistory } from '../../shared/records/read/history.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { readPageCursor, writeCursor, writePageCursor } from '../../shared/store/items/page.ts';
import { parseSearch } from '../../shared/store/search/search-request.ts';
import { ringOf } from '../setup/key-rings.ts';
import { newProject, newResource, type Stage, startStage } from '../storage/stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let other: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  other = await newProject(stage);
  await newResource(stage, caller.project, { resourceType: 'Patient', id: 'a', name: [{ family: 'A' }] });
  await newResource(stage, other.project, { resourceType: 'Patient', id: 'b', name: [{ family: 'A' }] });
});
afterAll(() => stage.stop());

const long = 'x'.repeat(2000);
const forged: unknown[] = [
  '',
  null,
  7,
  {},
  [],
  '~',
  long,
  'patient',
  { by: 'turn', source: 1, stretch: '', sk: 'a' },
  { by: 'turn', source: 'family:=A', stretch: '~', sk: 'P#other#Patient#b' },
  { by: 'walk', sk: long },
  { by: 'walk', sk: '' },
  { by: 'walk', sk: '~' },
  { by: 'walk', sk: '#' },
  { by: 'walk', sk: '\u0000' },
  { by: 'tail', sk: '0' },
  { by: 'rank', values: [{}], id: 'a' },
  { by: 'rank', values: ['a'], id: 7 },
  { by: 'rank', values: [], id: 'a' },
  { sk: 'V#', expected: 'a' },
  { sk: 'V#~', expected: 7 },
  { sk: 'HEAD', expected: 'a' },
  { sk: long, expected: 'a' },
  { stretch: '~', sk: 'Observation#a' },
  { stretch: 7, sk: 'a' },
];

/** Either an answer or a refusal, never a fault; never what belongs to another Project. */
async function answered(run: () => Promise<{ entry?: { resource?: unknown }[] }>): Promise<void> {
  const answer = await run().catch((error: { kind?: string }) => {
    expect(error.kind).toBe('invalid');
    return { entry: [] };
  });
  for (const { resource } of answer.entry ?? []) expect(resource).not.toMatchObject({ id: 'b' });
}

describe('a forged cursor', () => {
  test.each(forged)('(%#) gets a page of the own Project or a refusal', async (position) => {
    for (const text of ['', 'family=A', '_sort=family', '_sort=birthdate', '_sort=-_lastUpdated', '_id=a']) {
      const { canonical } = parseSearch('Patient', new URLSearchParams(text), undefined);
      const query = new URLSearchParams(text);
      query.set('_cursor', writeCursor({ project: caller.project, name: canonical }, position));
      await answered(() => searchResources(stage.services, caller, { type: 'Patient', query }));
    }
    for (const text of ['', '_sort=date', 'entity=Bot/a', 'agent=Practitioner/a', '_sort=agent']) {
      const { canonical } = parseSearch('AuditEvent', new URLSearchParams(text), undefined);
      const query = new URLSearchParams(text);
      query.set('_cursor', writeCursor({ project: caller.project, name: canonical }, position));
      await answered(() => searchResources(stage.services, caller, { type: 'AuditEvent', query }));
    }
    const at = (name: string) =>
      new URLSearchParams({ _cursor: writeCursor({ project: caller.project, name }, position) });
    const type = 'Patient';
    await answered(() => readTypeHistory(stage.services, caller, { type, query: at('Patient/_history') }));
    await answered(() =>
      readHistory(stage.services, caller, { type, id: 'a', query: at('Patient/a/_history') }),
    );
    const everything = JSON.stringify(['Patient/a/$everything', undefined, undefined]);
    await answered(() => readEverything(stage.services, caller, { id: 'a', query: at(everything) }));
  });

  test('of another search or Project is refused', async () => {
    const { canonical } = parseSearch('Patient', new URLSearchParams('family=A'), undefined);
    const place = { by: 'walk', sk: 'a' };
    for (const cursor of [
      writeCursor({ project: other.project, name: canonical }, place),
      writeCursor({ project: caller.project, name: 'x' }, place),
      'no cursor',
    ]) {
      const query = new URLSearchParams({ family: 'A', _cursor: cursor });
      await expect(searchResources(stage.services, caller, { type: 'Patient', query })).rejects.toMatchObject(
        {
          kind: 'invalid',
        },
      );
    }
  });
});

test('a sealed place opens in the listing that it was sealed for, and in no other', async () => {
  const services = { runTokenKeys: ringOf(new Uint8Array(32)) };
  const [own, another] = [
    { project: 'p', name: 'own' },
    { project: 'p', name: 'another' },
  ];
  const page = { values: [], next: 'Patient#x', isPassedOver: true, offset: 0 };
  const cursor = await writePageCursor(services, own, page);
  const parse = (position: unknown) => (typeof position === 'string' ? position : undefined);
  expect(await readPageCursor(services, own, cursor, parse)).toBe('Patient#x');
  const [, position] = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString());
  // With the binding of the other one, which is no secret.
  const moved = writeCursor(another, position);
  await expect(readPageCursor(services, another, moved, parse)).rejects.toMatchObject({ kind: 'invalid' });
});
