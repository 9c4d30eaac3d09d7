import { readFile } from 'node:fs/promises';
import { environmentFile, type HandlerEnvironment, useHandlerEnvironment } from './environment.ts';
import { lockedBy } from './folder-lock.ts';
import type { settings } from './settings.ts';
import { startStack } from './stack.ts';

/** Runs something that imports handlers beside the stack of a data folder: a running one, else one of its own. */
export async function withStack<Result>(
  given: ReturnType<typeof settings>,
  run: () => Promise<Result>,
): Promise<Result> {
  const { dataDir } = given;
  if ((await lockedBy(dataDir)) !== undefined) {
    const text = await readFile(environmentFile(dataDir), 'utf8');
    useHandlerEnvironment(JSON.parse(text) as HandlerEnvironment);
    return run();
  }
  const stack = await startStack(given);
  return run().finally(stack.stop);
}
