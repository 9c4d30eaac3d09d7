import { fieldsOf } from './fields-of.ts';

/** The name of whatever was thrown, for a decision or the log: its message may hold what a caller sent. */
export function errorName(error: unknown): string {
  const { name } = fieldsOf(error);
  return typeof name === 'string' ? name : typeof error;
}

/** What Node and libraries call a fault, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === 'string' ? code : undefined;
}

/** What an error says, for whoever sits at the command line; a log may not have it. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
