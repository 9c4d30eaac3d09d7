import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { generatedFiles } from '../../infra/definitions/generate.ts';
import {
  searchParameterDefinitions,
  structureDefinitions,
} from '../../infra/definitions/read-definitions.ts';
import { searchRegistry } from '../../infra/definitions/search-registry.ts';
import type { Refusal } from '../../shared/base/refusal.ts';
import { settingEntries } from '../../shared/bots/bot/settings.ts';
import { hasElement } from '../../shared/store/fhir/structures.ts';
import { requireValid } from '../../shared/store/fhir/validate.ts';
import { parametersOf, resourceTypes } from '../../shared/store/index/registry.ts';

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
