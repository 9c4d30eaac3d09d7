import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ServiceProcess, startService } from '../mllp/service-process.ts';
import type { Answer, Call } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { extension, newSubscription, until } from '../spec/subscribing.ts';

const isLong = process.env.PORTICO_LONG === '1';
const records = isLong ? 50 : 4;
const versions = isLong ? 20 : 4;
const kills = isLong ? 12 : 2;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.end();
  delete process.env.BASE_URL;
  delete process.env.PORTICO_DEMO;
});

const fhir = { 'content-type': 'application/fhir+json' };

/** Asks until the service answers: it is killed now and then. */
async function insist(method: string, path: string, call: Call = {}): Promise<Answer> {
  for (const untilMs = Date.now() + 120_000; ; await pause(50)) {
    const answer = await service.portico.api(method, path, call).catch(() => undefined);
    if (answer && answer.status < 500 && answer.status !== 429) return answer;
    if (Date.now() > untilMs) throw new Error(`No answer: ${method} ${path}`);
  }
}

interface Noted {
  record: string;
  version: string;
  attempt: string;
}

/** All that the Bot has noted, in the order of its runs. */
async function notes(): Promise<Noted[]> {
  const found: Noted[] = [];
  for (let path: string | undefined = 'fhir/R4/Basic?_sort=_lastUpdated&_count=1000'; path; ) {
    const { json }: Answer = await insist('GET', path);
    for (const { resource } of json.entry ?? []) found.push(JSON.parse(resource.code.text));
    const next = json.link?.find(({ relation }: { relation: string }) => relation === 'next')?.url;
    path = next?.slice(service.portico.baseUrl.length + 1);
  }
  return found;
}

test(
  `of ${records * versions} versions of ${records} records, through ${kills} crashes, each is delivered, in order, each attempt once`,
  async () => {
    const bot = await botThat(
      service.portico,
      `const text = JSON.stringify({ record: event.input.id, version: event.input.meta.versionId, attempt: event.headers['x-portico-attempt'] });
       await medplum.createResource({ resourceType: 'Basic', code: { text } });`,
      { timeout: 2 },
    );
    const body = newSubscription(`Bot/${bot}`, 'Patient', {
      extension: [extension('subscription-max-attempts', { valueInteger: 18 })],
    });
    const made = await insist('POST', 'fhir/R4/Subscription', { body, headers: fhir });
    const path = `fhir/R4/Subscription/${made.json.id}`;
    await until(
      async () => ((await insist('GET', path)).json.status === 'active' ? true : undefined),
      'active',
    );

    let written = 0;
    const writing = Promise.all(
      Array.from({ length: records }, async (_, i) => {
        for (let n = 1; n <= versions; n++) {
          const patient = { resourceType: 'Patient', id: `record-${i}`, multipleBirthInteger: n };
          await insist('PUT', `fhir/R4/Patient/record-${i}`, { body: patient, headers: fhir });
          written++;
        }
      }),
    );
    for (let n = 1; n <= kills; n++) {
      await until(
        () => (written >= (n * records * versions) / (kills + 1) ? true : undefined),
        'some versions',
      );
      await pause(Math.random() * 300);
      await service.stop('SIGKILL');
      await service.start();
    }
    await writing;

    const order = new Map<string, string[]>();
    for (let i = 0; i < records; i++) {
      const { json } = await insist('GET', `fhir/R4/Patient/record-${i}/_history?_count=100`);
      const ids = json.entry.map(
        ({ resource }: { resource: { meta: { versionId: string } } }) => resource.meta.versionId,
      );
      order.set(`record-${i}`, ids.reverse());
    }
    const all = [...order.values()].flat();
    expect(all.length).toBeGreaterThanOrEqual(records * versions);
    const isDelivered = async () => {
      const seen = new Set((await notes()).map(({ version }) => version));
      return all.every((version) => seen.has(version)) ? true : undefined;
    };
    for (
      const untilMs = Date.now() + (isLong ? 600_000 : 180_000);
      !(await isDelivered());
      await pause(500)
    ) {
      if (Date.now() > untilMs) throw new Error('Not all was delivered in time');
    }
    const noted = await notes();
    const names = noted.map(({ version, attempt }) => `${version} ${attempt}`);
    expect(new Set(names).size).toBe(names.length);
    for (const [record, ids] of order) {
      const places = noted
        .filter((note) => note.record === record)
        .map(({ version }) => ids.indexOf(version));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  },
  isLong ? 1_200_000 : 400_000,
);
