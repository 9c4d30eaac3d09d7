import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { generatedFiles } from '../../infra/definitions/generate.ts';
import {
  searchParameterDefinitions,
  structureDefinitions,
} from '../../infra/definitions/read-definitions.ts';
import { searchRegistry } from '../../infra/definitions/search-registry.ts';
import { parametersOf, resourceTypes } from '../../shared/index/registry.ts';

describe('what is kept of the R4 definitions', () => {
  test('is what npm run definitions writes', () => {
    for (const { path, text } of generatedFiles()) {
      const stored = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
      expect(stored === text ? path : `${path} is out of date`).toBe(path);
    }
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
