import { array, exactOptional, type InferInput, literal, number, object, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import {
  type Caller,
  callerOf,
  type Run,
  type RunCaller,
  runCaller,
} from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { openState } from '../../store/items/content.ts';
import type { RecordChange } from './change.ts';

/** Who wrote a version, as far as what follows from it has to know: kept beside the version. */
const writerSchema = object({
  /** Whose rights bounded the write, the writer first. */
  callers: array(runCaller),
  /** Of the run that wrote it: how deep it was, and the call or tick that it all follows from. */
  run: exactOptional(object({ depth: number(), origin: string() })),
  /** An administrator asked that no Subscription is woken: data that are loaded are no news. */
  isQuiet: exactOptional(literal(true)),
});
export type Writer = InferInput<typeof writerSchema>;

const readVersion = stored('version', object({ by: exactOptional(writerSchema) }));

/** Everybody in whose name an actor acts, the actor first. */
export function callersOf({ membershipId, profile, scope, patient, run }: Actor): RunCaller[] {
  const own = { membershipId, profile, scope, ...(patient === undefined ? {} : { patient }) };
  return [own, ...(run?.within ?? [])];
}

export function writerOf(actor: Actor, isQuiet: boolean): Writer {
  const { run } = actor;
  return {
    callers: callersOf(actor),
    ...(run ? { run: { depth: run.depth, origin: run.origin ?? run.root } } : {}),
    ...(isQuiet ? { isQuiet } : {}),
  };
}

/** Undefined for a version that the system wrote, or an earlier release. */
export function writerIn(version: Item | undefined): Writer | undefined {
  return readVersion(version)?.by;
}

/** What a change was, with the record. */
export interface ChangedStates {
  /** The version that was written; of a deletion the last before it. */
  current: Resource;
  previous: Resource | undefined;
  writer: Writer | undefined;
}

/** @throws {Error} when the version is not there */
export async function readStates(table: Table, change: RecordChange): Promise<ChangedStates> {
  const { project, type, id, version, previous, interaction } = change;
  const key = keys.version(project, type, id, version);
  const previousKey = previous && keys.version(project, type, id, previous);
  const found = await table.read([key, ...(previousKey ? [previousKey] : [])]);
  const item = found.get(key);
  const open = async (state: Item | undefined) => state && (await openState(table, state))?.resource;
  const before = previousKey && (await open(found.get(previousKey)));
  const current = interaction === 'delete' ? before : await open(item);
  if (!current) throw new Error('The version of a change is not there');
  return { current, previous: before, writer: writerIn(item) };
}

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
