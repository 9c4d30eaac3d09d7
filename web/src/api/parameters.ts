import type { Parameters, ParametersParameter } from '@medplum/fhirtypes';

/** The parts of an entry of Parameters by name: of each its first value, whatever its type. */
export function partsOf({ part = [] }: ParametersParameter): Record<string, unknown> {
  return Object.fromEntries(part.map((one) => [one.name, firstValueOf(one)]));
}

/** The entries of that name. */
export function entriesOf({ parameter = [] }: Parameters, name: string): ParametersParameter[] {
  return parameter.filter((one) => one.name === name);
}

function firstValueOf(one: ParametersParameter): unknown {
  return Object.entries(one).find(([name]) => name.startsWith('value'))?.[1];
}
