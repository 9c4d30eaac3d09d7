import { boolean, exactOptional, type InferInput, number, object, string } from 'valibot';
import { inParallel } from '../../base/in-parallel.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { endUser } from './forget-user.ts';

/** What a scan asks for: all that may belong to a Project, and more than that nothing. */
function ofProject(project: string) {
  return {
    FilterExpression:
      'begins_with(pk, :own) OR contains(sk, :id) OR #project = :id OR onlyProject = :id OR scopeProject = :id OR begins_with(subjectKey, :own)',
    ExpressionAttributeNames: { '#project': 'project' },
    ExpressionAttributeValues: { ':own': `P#${project}#`, ':id': project },
  };
}

/**
 * Whether an item is to go with the Project: under its keys, or above Projects and about it alone. Its head is the
 * last to go, and by itself.
 */
function belongs(project: string, item: Item): boolean {
  const { pk, sk } = item;
  const own = `P#${project}#`;
  const head = keys.resource(project, 'Project', project);
  if (pk === head.pk && sk === head.sk) return false;
  if (pk.startsWith(own)) return true;
  if (pk.startsWith('P#') || pk === keys.deletion(project).pk) return false;
  if (pk.startsWith('U#')) return sk.startsWith(`M#${project}#`) || String(item.subjectKey).startsWith(own);
  const namesIt = sk.split('#').includes(project);
  return namesIt || item.project === project || item.onlyProject === project;
}

/** The User whom an item tells of, who is to go too when they are in no other Project. */
function personIn(project: string, item: Item): string | undefined {
  const { pk, sk } = item;
  if (pk.startsWith('U#') && (sk.startsWith(`M#${project}#`) || item.scopeProject === project)) {
    return pk.slice(2);
  }
  const isPerson = pk.startsWith(`P#${project}#PERSON#`) && typeof item.userId === 'string';
  return isPerson ? String(item.userId) : undefined;
}

/** The event that deletes a Project and all that belongs to it, for good. */
export interface DeleteRequest {
  /** Id of a Project that is disabled. */
  project: string;
  delete: true;
}

/** How far a deletion is. Kept in the table for good: it holds nothing of the Project but its id. */
export interface Deletion {
  deletion: {
    project: string;
    /** A whole pass over the table has found nothing more of the Project. */
    done: boolean;
    /** Passes over the whole table, the one that is under way included. */
    passes: number;
    /** Items that were removed, and Users who were in no other Project. */
    items: number;
    users: number;
    /** Instants of ISO 8601. */
    begun: string;
    ended?: string;
  };
}

const progressSchema = object({
  project: string(),
  done: exactOptional(boolean()),
  /** Grows with every page: of two who go on at once one is stopped. */
  step: number(),
  passes: number(),
  /** What this pass has found. */
  found: number(),
  items: number(),
  users: number(),
  begunAtMs: number(),
  endedAtMs: exactOptional(number()),
  from: exactOptional(object({ pk: string(), sk: string() })),
});
type Progress = InferInput<typeof progressSchema>;
const progressOf = stored('deletion of a Project', progressSchema);

/** Longer than the longest request or run that was let in before the Project was disabled. */
const quietMs = 20 * 60_000;
const pageItems = 500;

/**
 * Removes page by page what belongs to a Project, wherever it is in the table, until a pass over the whole table has
 * found nothing; then the Project itself. Stopped or cut off, it goes on where it was when it is asked again.
 * @param untilMs when to stop, ms since the epoch
 * @throws {Error} when the Project does not exist, is not disabled or was only just, or somebody else is at it
 */
export async function deleteProject(
  services: Services,
  { project }: DeleteRequest,
  untilMs: number,
): Promise<Deletion> {
  const begun = progressOf(await readItem(services.table, keys.deletion(project)));
  let progress = begun ?? (await begin(services, project));
  do {
    if (progress.done === true) return answerOf(progress);
    progress = await nextPage(services, progress);
  } while (services.now() < untilMs);
  return answerOf(progress);
}

async function begin({ table, now }: Services, project: string): Promise<Progress> {
  const key = keys.resource(project, 'Project', project);
  const head = await readItem(table, key);
  if (!head) throw new Error('There is no such Project');
  const disabledAtMs = Number(head.disabledAtMs ?? Number.NaN);
  if (Number.isNaN(disabledAtMs)) throw new Error('Disable the Project first: --disabled');
  if (disabledAtMs + quietMs > now()) {
    const from = new Date(disabledAtMs + quietMs).toISOString();
    throw new Error(`Requests and runs from before may still go on: the Project can be deleted from ${from}`);
  }
  const counts = { step: 0, passes: 1, found: 0, items: 0, users: 0 };
  const progress: Progress = { project, ...counts, begunAtMs: now() };
  await table.transact([
    {
      name: 'project',
      update: key,
      set: 'SET deletion = :true',
      if: 'disabledAtMs = :at',
      values: { ':true': true, ':at': disabledAtMs },
    },
    { name: 'deletion', put: { ...keys.deletion(project), ...progress }, if: 'attribute_not_exists(pk)' },
  ]);
  return progress;
}

async function nextPage(services: Services, before: Progress): Promise<Progress> {
  const { project, from } = before;
  const page = await services.table.scan({ from, limit: pageItems, filter: ofProject(project) });
  const users = await endUsers(services, project, page.items);
  const leaving = page.items.filter((item) => belongs(project, item));
  await services.table.write([], leaving);
  const { from: _, ...counted } = {
    ...before,
    found: before.found + leaving.length,
    items: before.items + leaving.length,
    users: before.users + users,
  };
  if (page.next) return advance(services, before, { ...counted, from: page.next });
  if (counted.found > 0) {
    return advance(services, before, { ...counted, passes: counted.passes + 1, found: 0 });
  }
  const after = await advance(services, before, { ...counted, done: true, endedAtMs: services.now() });
  services.log.info('project deleted', { project, items: after.items, users: after.users });
  return after;
}

async function endUsers(services: Services, project: string, items: readonly Item[]): Promise<number> {
  const people = new Set(items.flatMap((item) => personIn(project, item) ?? []));
  let ended = 0;
  await inParallel(people, 8, async (userId) => {
    if ((await endUser(services, project, userId)) === 'ended') ended++;
  });
  return ended;
}

/** With the last step the Project's head goes. */
async function advance({ table }: Services, before: Progress, after: Progress): Promise<Progress> {
  const { project, done } = after;
  const next = { ...after, step: before.step + 1 };
  const put = { ...keys.deletion(project), ...next };
  const actions = [
    { name: 'deletion', put, if: 'step = :step', values: { ':step': before.step } },
    ...(done ? [{ name: 'project', remove: keys.resource(project, 'Project', project) }] : []),
  ];
  const refused = () =>
    new Error('Somebody else is deleting this Project: see how far they are by asking again');
  await table.transact(actions).catch(orThrow(refused));
  return next;
}

function answerOf({ project, done, passes, items, users, begunAtMs, endedAtMs }: Progress): Deletion {
  const begun = new Date(begunAtMs).toISOString();
  const ended = endedAtMs === undefined ? {} : { ended: new Date(endedAtMs).toISOString() };
  return { deletion: { project, done: done === true, passes, items, users, begun, ...ended } };
}
