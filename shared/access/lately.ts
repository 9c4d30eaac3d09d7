import type { Services } from '../services.ts';

/** Less than a Project is disabled for before it can be deleted. */
const latelyMs = 10 * 60_000;

/**
 * Whether what this process remembers is late enough to write by it before the caller is admitted: whose rights ended
 * long ago writes nothing, and nothing comes into a Project that is being deleted.
 * @param atMs undefined where nothing is remembered
 */
export function isLately({ now }: Pick<Services, 'now'>, atMs: number | undefined): boolean {
  return atMs !== undefined && atMs > now() - latelyMs;
}
