import { type Caller, callerOf } from '../access/access-token.ts';
import { type Actor, admit } from '../access/actor.ts';
import type { Run, RunCaller } from '../access/run.ts';
import { Refusal } from '../refusal.ts';
import type { Services } from '../services.ts';

/** What is done for a Subscription is asked for by its author, who need not be signed in. @param run that it is part of */
export function callerForAuthor(
  project: string,
  [author, ...within]: readonly RunCaller[],
  run: Omit<Run, 'within'>,
): Caller<'member'> {
  if (!author) throw new Refusal('unauthorized', 'The Subscription has no author');
  const claims = { loginId: `run-${run.id}`, project, clientId: '', subject: '', ...author };
  return callerOf({ ...claims, run: { ...run, within } }, 'member');
}

/** The author as they stand now. @throws {Refusal} unauthorized, when their membership ended */
export async function admitAuthor(
  services: Services,
  project: string,
  author: readonly RunCaller[],
): Promise<Actor> {
  const run = { id: '', root: '', depth: 0, deadlineAtMs: services.now() };
  return (await admit(services, callerForAuthor(project, author, run), [])).actor;
}
