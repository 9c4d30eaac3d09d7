import { array, exactOptional, type InferInput, number, object, string } from 'valibot';
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
  /** How far it is looked whether earlier versions are still needed. */
  retiring: exactOptional(
    object({
      from: object({ pk: string(), sk: string() }),
      standing: number(),
      resealed: number(),
    }),
  ),
});

/** A purpose's key as it is stored: each of its versions wrapped. */
export type StageKey = InferInput<typeof schema>;

export const stageKeyOf: (item: Item | undefined) => StageKey | undefined = stored('stage key', schema);

/** @throws {Error} when the stage has none for that purpose */
export async function readStageKey(table: Table, purpose: KeyPurpose): Promise<StageKey> {
  const item = (await table.read([keys.stageKey(purpose)])).get(keys.stageKey(purpose));
  const key = stageKeyOf(item);
  if (!key) throw new Error(`The stage has no key for ${purpose}`);
  return key;
}

/** A key as operators see it. */
export interface KeyState {
  purpose: KeyPurpose;
  /** The version that makes what is new. */
  current: number;
  /** An instant of ISO 8601. */
  since: string;
  versions: number[];
}

export function keyStateOf(
  purpose: KeyPurpose,
  { versions, current, currentSinceMs }: Omit<StageKey, 'revision'>,
): KeyState {
  return {
    purpose,
    current,
    since: new Date(currentSinceMs).toISOString(),
    versions: versions.map(({ version }) => version),
  };
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
