import { type InferInput, object, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { dueKey, keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';

/** A Bot that is due at an instant, as the ticks look for it. */
const dueSchema = object({ project: string(), botId: string(), dueAt: string() });
export type Due = InferInput<typeof dueSchema>;

export const dueOf = stored('due Bot', dueSchema);

export function dueItem(due: Due): Item {
  return { ...dueKey(due.project, due.botId, due.dueAt), ...due };
}

/** Writes when a Bot is due; what was due before leads nowhere from then on. */
export function scheduleActions(due: Due): Action[] {
  const { project, botId, dueAt } = due;
  return [
    { name: 'schedule', put: { ...keys.schedule(project, botId), dueAt } },
    { name: 'due', put: dueItem(due) },
  ];
}
