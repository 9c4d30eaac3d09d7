import { jest } from '@jest/globals';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

let calls = 0;

/**
 * What a program of `infra` that is a `command` does, in this process, which takes a fifth of the time of one of its own:
 * what it is given, prints and ends with is its own.
 * @param path from the root of the repository
 */
export async function callProgram(
  path: string,
  args: readonly string[],
  env: Record<string, string>,
  folder = process.cwd(),
): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  let code: number | null = null;
  for (const name of ['stdout', 'stderr'] as const) {
    jest.spyOn(process[name], 'write').mockImplementation(((text: string, written?: () => void) => {
      said[name] += text;
      written?.();
      return true;
    }) as typeof process.stdout.write);
  }
  jest.replaceProperty(process, 'argv', [
    'node',
    new URL(`../../${path}`, import.meta.url).pathname,
    ...args,
  ]);
  jest.replaceProperty(process, 'env', { ...process.env, ...env });
  jest.spyOn(process, 'exit').mockImplementation((given) => {
    code = Number(given);
    throw new Error('ended');
  });
  const before = process.cwd();
  process.chdir(folder);
  try {
    calls += 1;
    await import(`../../${path}?call=${calls}`);
  } catch (error) {
    if (code === null) throw error;
  } finally {
    process.chdir(before);
    jest.restoreAllMocks();
  }
  code ??= Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, ...said };
}
