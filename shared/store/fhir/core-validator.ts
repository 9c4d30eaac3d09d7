/** The validator of `@medplum/core`. Imported on demand, by these names alone: a third of the library is bundled then. */

import { loadDataType, OperationOutcomeError, validateResource } from '@medplum/core';
import { longestBodyBytes } from '../../base/limits.ts';
import type { RefusalIssue } from '../../base/refusal.ts';
import type { StructureDefinition } from './elements.ts';

/** Types whose definitions the validator has; the rest wait in their text. */
const loaded = new Set<string>();

/** Gives the validator a definition, once. */
export function learn(definition: StructureDefinition | undefined): void {
  if (!definition || loaded.has(definition.name)) return;
  loaded.add(definition.name);
  loadDataType(definition as never);
}

/** @param resource of types whose definitions, and those of all that is in it, are learned */
export function faultsOf(resource: { resourceType: string }): RefusalIssue[] | undefined {
  try {
    validateResource(resource as never, { base64BinaryMaxBytes: longestBodyBytes });
    return undefined;
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    const faults = error.outcome.issue.filter(
      ({ severity }) => severity !== 'warning' && severity !== 'information',
    );
    return faults.map(({ details, expression: [at] = [] }) => ({
      text: details?.text ?? 'Not valid',
      ...(at === undefined ? {} : { expression: at }),
    }));
  }
}
