import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * What the validator of npm `fhir` has against each, hints apart. In a process of its own: jest's module
 * loader takes minutes over the validator's profiles, Node's a moment.
 */
export function faultsOf(bodies: readonly object[]): string[][] {
  const program = fileURLToPath(new URL('./validator-process.ts', import.meta.url));
  const options = { input: JSON.stringify(bodies), maxBuffer: 64 * 1024 * 1024 };
  return JSON.parse(execFileSync(process.execPath, [program], options).toString());
}
