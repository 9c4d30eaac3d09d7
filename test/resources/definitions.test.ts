import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { evalFhirPathTyped, toTypedValue } from '@medplum/core';
import { generatedFiles } from '../../infra/definitions/generate.ts';
import {
  searchParameterDefinitions,
  structureDefinitions,
} from '../../infra/definitions/read-definitions.ts';
import { searchRegistry } from '../../infra/definitions/search-registry.ts';
import type { Refusal } from '../../shared/base/refusal.ts';
import { settingEntries } from '../../shared/bots/bot/settings.ts';
import { judges } from '../../shared/store/fhir/core-validator.ts';
import { definitions } from '../../shared/store/fhir/definitions.ts';
import type { StructureDefinition } from '../../shared/store/fhir/elements.ts';
import { hasElement } from '../../shared/store/fhir/structures.ts';
import { requireValid } from '../../shared/store/fhir/validate.ts';
import { parametersOf, resourceTypes } from '../../shared/store/index/registry.ts';
import { slowness } from '../setup/slowness.ts';

describe('what is kept of the R4 definitions', () => {
  test('is what npm run definitions writes', () => {
    for (const { path, text } of generatedFiles()) {
      const stored = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
      expect(stored === text ? path : `${path} is out of date`).toBe(path);
    }
  });

  test('has every setting of a Bot as an element of its type', async () => {
    for (const name of Object.keys(settingEntries))
      expect([name, await hasElement('Bot', name)]).toEqual([name, true]);
  });

  test('holds every search parameter of R4 but distances', () => {
    const { left } = searchRegistry(structureDefinitions(), searchParameterDefinitions());
    expect(left).toEqual([
      'ClientApplication.identity-provider-issuer (string)',
      'Location.near (special)',
      'ResearchStudy.progress-status-state-actual (composite)',
      'ResearchStudy.progress-status-state-period (composite)',
      'ResearchStudy.progress-status-state-period-actual (composite)',
    ]);
    expect(resourceTypes()).toHaveLength(153);
    const all = resourceTypes().flatMap((type) => [...parametersOf(type).values()]);
    expect(all.filter(({ paths }) => paths.some(({ type }) => type === ''))).toEqual([]);
  });
});

const duration = { repeat: { duration: 1 } };

describe('the rules of what is in a resource are known without any write before', () => {
  test.each([
    [
      'of a data type in a list',
      { dosageInstruction: [{ timing: duration }] },
      'dosageInstruction[0].timing.repeat',
    ],
    [
      'of an extension',
      { extension: [{ url: 'urn:a', valueTiming: duration }] },
      'extension[0].value[x].repeat',
    ],
    [
      "of a primitive's extension",
      { _authoredOn: { extension: [{ url: 'urn:a', valueTiming: duration }] } },
      'authoredOn.extension[0].value[x].repeat',
    ],
    [
      'of a contained resource',
      { contained: [{ resourceType: 'Patient', contact: [{ gender: 'male' }] }] },
      'contained[0].contact[0]',
    ],
  ])('%s', async (_what, part, at) => {
    const medication = { text: 'aspirin' };
    const subject = { reference: 'Patient/1' };
    const plain = { resourceType: 'MedicationRequest', status: 'active', intent: 'order' };
    const whole = { ...plain, medicationCodeableConcept: medication, subject, ...part };
    const issues = await requireValid(whole, () => undefined).then(
      () => [],
      (refusal: Refusal) => refusal.issues?.map(({ expression }) => expression),
    );
    expect(issues).toEqual([`MedicationRequest.${at}`]);
  });
});

describe('the rules that are judged by own code', () => {
  const all = allRules();

  test('are all that could take more than in proportion: those that are left are known not to', () => {
    const compares =
      /atches\(|[dD]istinct|intersect|exclude|subsetOf|contains \$this|descendants|repeat\(|%(resource|context|rootResource)/;
    const left = all.filter(({ key, expression }) => compares.test(expression) && !(key in judges));
    expect(Object.fromEntries(left.map(({ key, expression }) => [key, expression]))).toEqual({
      // Of classes that share no character, or a text alone (npm `recheck`).
      'clapp-1': "$this.matches('^[0-9]+[smhdwy]$')",
      'clapp-2': "$this.lower().matches('^https?://')",
      // One element of the resource, for each entry.
      'bdl-3': expect.stringContaining('%resource.type'),
      'bdl-4': expect.stringContaining('%resource.type'),
      // The library finds no descendants.
      'que-2': 'descendants().linkId.isDistinct()',
    });
  });

  test('need not be those that a data type has as a whole: the library asks none', async () => {
    const lost = { resourceType: 'Basic', code: { text: 'x' }, subject: { reference: '#nothing' } };
    await requireValid(lost, () => undefined);
  });

  const named = (path: string, list: unknown[]) =>
    path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), list);
  const distinct = (path: string, name: string, more: object = {}): [object[], object[]] => {
    const of = (...values: string[]) => ({
      ...more,
      ...(named(
        path,
        values.map((value) => ({ [name]: value })),
      ) as object),
    });
    return [[of('a', 'b'), of('a'), {}], [of('a', 'b', 'a')]];
  };
  const ids = (part: string): [object[], object[]] => {
    const [good, bad] = distinct(`${part}.element`, 'id');
    return [good, [...bad, { [part]: { element: [{ id: 'a' }, {}] } }]];
  };
  const policy = (criteria: string, resourceType = 'Patient') => ({ resourceType, criteria });
  const paths = (...each: string[]) => ({ element: each.map((path) => ({ path })) });
  const entry = (fullUrl: string, versionId?: string) => ({
    fullUrl,
    resource: { resourceType: 'Basic', ...(versionId ? { meta: { versionId } } : {}) },
  });

  /** Elements that keep each rule, and that break it, in a resource that may matter too. */
  const samples: Record<string, [keeping: object[], breaking: object[], resource?: object]> = {
    'axp-3': [
      [
        policy('Patient?name=a'),
        policy('Patient?name=a&'),
        policy('Patient?a=b&c:d=e=f'),
        policy('*?_id=a', '*'),
        { resourceType: 'Patient' },
      ],
      [
        policy('Patient?'),
        policy('Patient?name'),
        policy('Patient?name=a&&'),
        policy('Patient?a=b&c'),
        policy('Patient?=a'),
        policy('Observation?code=a'),
        policy('Patient'),
        policy('Patient?_has:Group:member:_id=a'),
      ],
    ],
    'bdl-7': [
      [
        { type: 'batch', entry: [entry('a'), entry('b'), {}, {}] },
        { type: 'batch', entry: [entry('a', '1'), entry('a', '2')] },
        { type: 'history', entry: [entry('a'), entry('a')] },
      ],
      [
        { type: 'batch', entry: [entry('a'), entry('a')] },
        { type: 'batch', entry: [entry('a', '1'), entry('a', '1')] },
      ],
    ],
    'cpb-7': [
      [
        {
          document: [
            { profile: 'a', mode: 'producer' },
            { profile: 'a', mode: 'consumer' },
          ],
        },
      ],
      [
        {
          document: [
            { profile: 'a', mode: 'producer' },
            { profile: 'a', mode: 'producer' },
          ],
        },
      ],
    ],
    'cpb-9': distinct('resource', 'type'),
    'cpb-12': distinct('searchParam', 'name'),
    'csd-1': distinct('concept', 'code'),
    'ig-1': [
      [{}, { grouping: [{ id: 'a' }, { id: 'b' }], resource: [{ groupingId: 'b' }, {}] }],
      [{ grouping: [{ id: 'a' }], resource: [{ groupingId: 'b' }] }, { resource: [{ groupingId: 'b' }] }],
    ],
    'ig-2': [
      [
        { fhirVersion: ['1'] },
        { fhirVersion: ['1', '2'], definition: { resource: [{ fhirVersion: ['2', '1'] }] } },
      ],
      [{ fhirVersion: ['1'], definition: { resource: [{ fhirVersion: ['2'] }] } }],
    ],
    'nsd-2': [
      [{ uniqueId: [{ type: 'a', preferred: true }, { type: 'a' }, { type: 'b', preferred: true }] }],
      [
        {
          uniqueId: [
            { type: 'a', preferred: true },
            { type: 'a', preferred: true },
          ],
        },
      ],
    ],
    'obs-7': [
      [
        {
          ...{ valueString: 'x', code: { coding: [{ code: 'a' }] } },
          component: [{ code: { coding: [{ code: 'a' }] } }],
        },
      ],
      [],
      { resourceType: 'Observation', code: { coding: [{ code: 'a' }] } },
    ],
    'sdf-1': [
      [
        ...distinct('snapshot.element', 'path')[0],
        ...distinct('snapshot.element', 'path', { derivation: 'constraint' })[1],
      ],
      distinct('snapshot.element', 'path')[1],
    ],
    'sdf-8': [
      [paths('X'), paths('X', 'X.a', 'X.a.b')],
      [paths('Y', 'Y.a'), paths('X', 'X'), paths('X', 'X.a', 'Y.a')],
      { resourceType: 'StructureDefinition', kind: 'resource', type: 'X' },
    ],
    'sdf-8a': [
      [paths('X'), paths('X', 'X.a'), paths('X.a', 'X.b')],
      [paths('Y'), paths('X', 'X'), paths('X', 'X.a', 'Y.a')],
      { resourceType: 'StructureDefinition', kind: 'resource', type: 'X' },
    ],
    'sdf-16': ids('snapshot'),
    'sdf-17': ids('differential'),
  };

  test.each(Object.entries(judges))('%s as its text says', (key, judge) => {
    const [keeping = [], breaking = [], given] = samples[key] ?? [];
    expect(keeping.length).toBeGreaterThan(0);
    const expression = all.find((one) => one.key === key)?.expression ?? '';
    const part = { 'sdf-8': 'snapshot', 'sdf-8a': 'differential' }[key];
    const answers = (element: object) => {
      const resource = { resourceType: 'Basic', ...given, ...(part ? { [part]: element } : {}) };
      const at = { type: 'BackboneElement', value: element };
      const found = evalFhirPathTyped(expression, [at], {
        ...{ '%context': at, '%resource': toTypedValue(resource), '%rootResource': toTypedValue(resource) },
      });
      return [judge(element, resource), found.length === 1 && found[0]?.value === true];
    };
    expect(keeping.map(answers)).toEqual(keeping.map(() => [true, true]));
    expect(breaking.map(answers)).toEqual(breaking.map(() => [false, false]));
  });

  test('take no longer than in proportion', async () => {
    const list = (count: number, entry: (n: number) => object) =>
      Array.from({ length: count }, (_, n) => entry(n));
    const coding = list(5000, (n) => ({ code: `${n}` }));
    const criteria = `Patient?name=aa${'=aa'.repeat(3000)}&&`;
    const guide = { url: 'urn:a', name: 'X', status: 'draft', packageId: 'x', fhirVersion: ['4.0.1'] };
    const long: { resourceType: string; [element: string]: unknown }[] = [
      ...[{ resourceType: 'AccessPolicy', name: 'x', resource: [{ resourceType: 'Patient', criteria }] }],
      ...[
        {
          resourceType: 'Observation',
          status: 'final',
          code: { coding },
          component: list(5000, () => ({ code: { text: 'x' } })),
        },
      ],
      {
        ...{ resourceType: 'ImplementationGuide', ...guide },
        definition: {
          grouping: list(5000, (n) => ({ id: `g${n}`, name: 'a' })),
          resource: list(5000, () => ({ reference: { reference: 'Patient/a' }, groupingId: 'g4999' })),
        },
      },
    ];
    const from = process.cpuUsage();
    for (const one of long) await requireValid(one, () => undefined).catch(() => undefined);
    const { user, system } = process.cpuUsage(from);
    expect((user + system) / 1000).toBeLessThan(1500 * slowness());
  });
});

/** Without those that a data type has as a whole. */
function allRules(): { key: string; expression: string }[] {
  const text = inflateRawSync(Buffer.from(definitions, 'base64')).toString('utf8');
  return text.split('\n').flatMap((line) => {
    const { kind, snapshot } = JSON.parse(line.slice(line.indexOf(' '))) as StructureDefinition & {
      kind: string;
    };
    const asked = snapshot.element.filter(({ path }) => kind === 'resource' || path.includes('.'));
    return asked.flatMap(({ constraint = [] }) => constraint);
  });
}
