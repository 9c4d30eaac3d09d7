import { randomUUID } from 'node:crypto';
import type { Portico } from './portico.ts';
import { until } from './subscribing.ts';

/** What runs wait at until a test lets them go on: no run is over too soon on a machine that is slow. */
export interface Gate {
  /** Statements of a handler: they end once the gate is open. */
  pass: string;
  /** Resolves when a run has come to it. */
  reached(): Promise<unknown>;
  open(): Promise<unknown>;
}

const system = 'urn:test:gate';
const headers = { 'content-type': 'application/fhir+json' };

/** @param portico whose first Project the runs are of; they need its Basics, to read and to create */
export function newGate(portico: Portico): Gate {
  const [arrival, opening] = [randomUUID(), randomUUID()];
  const resourceOf = (value: string) => ({
    resourceType: 'Basic',
    code: { text: 'gate' },
    identifier: [{ system, value }],
  });
  const query = (value: string) => `fhir/R4/Basic?identifier=${system}|${value}&_summary=count`;
  const url = (path: string) => JSON.stringify(`${portico.baseUrl}/${path}`);
  return {
    pass: `await fetch(${url('fhir/R4/Basic')}, { method: 'POST', headers: ${JSON.stringify(headers)}, body: ${JSON.stringify(JSON.stringify(resourceOf(arrival)))} });
      while (!((await (await fetch(${url(query(opening))})).json()).total > 0)) await new Promise((r) => setTimeout(r, 250));`,
    reached: () =>
      until(
        async () => ((await portico.api('GET', query(arrival))).json.total > 0 ? true : undefined),
        'a run at the gate',
      ),
    open: () => portico.api('POST', 'fhir/R4/Basic', { body: resourceOf(opening), headers }),
  };
}
