import { array, type InferInput, number, object } from 'valibot';
import { stored } from '../schema/stored.ts';
import { bytes } from '../schema/values.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { KeyContext } from './data-keys.ts';
import type { KeyPurpose } from './purposes.ts';

const schema = object({
  versions: array(object({ version: number(), wrapped: bytes, madeAtMs: number() })),
  /** The version that makes what is new; later ones are made and not used yet. */
  current: number(),
  currentSinceMs: number(),
  /** Grows with every change. */
  revision: number(),
});

/** A purpose's key as it is stored: each of its versions wrapped. */
export type StageKey = InferInput<typeof schema>;

const read = stored('stage key', schema);

export function stageKeyOf(item: Item | undefined): StageKey | undefined {
  const found = read(item);
  if (!found) return undefined;
  const { versions, current, currentSinceMs, revision } = found;
  return { versions, current, currentSinceMs, revision };
}

/** Writes the next state of a purpose's key, if nobody else has since `before` was read. @returns whether it was written */
export async function writeStageKey(
  table: Table,
  purpose: KeyPurpose,
  next: Omit<StageKey, 'revision'>,
  before: StageKey | undefined,
): Promise<boolean> {
  const { held } = await table.putIf(
    { ...keys.stageKey(purpose), ...next, revision: (before?.revision ?? 0) + 1 },
    before
      ? {
          ConditionExpression: 'revision = :seen',
          ExpressionAttributeValues: { ':seen': before.revision },
        }
      : { ConditionExpression: 'attribute_not_exists(pk)' },
  );
  return held;
}

/** What a wrapped version is for: IAM lets a role open those of its purposes only, and none opens as another. */
export function stageKeyContext(purpose: KeyPurpose, version: number): KeyContext {
  return { use: stageKeyUse, purpose, version: String(version) };
}

export const stageKeyUse = 'portico-stage-key';
