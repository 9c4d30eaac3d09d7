/** A resource that was chosen in a picker. */
export interface Picked {
  /** `AccessPolicy/<id>` */
  reference: string;
  display: string;
  /** What tells it from another of the same name. */
  detail?: string;
}

/** What stands in a picker: a resource, a text that names none yet, or nothing. */
export type Choice<P extends Picked = Picked> = P | { typed: string } | undefined;

export function textOf(choice: Choice): string {
  if (choice === undefined) return '';
  return 'typed' in choice ? choice.typed : choice.display;
}

/**
 * The resource that was chosen; undefined when the field is empty.
 * @throws {Error} for a text that names none: it must never count as nothing
 */
export function pickedOf<P extends Picked>(choice: Choice<P>): P | undefined {
  if (choice === undefined || !('typed' in choice)) return choice;
  throw new Error(`“${choice.typed}” is not in the list: choose one.`);
}

/**
 * Which of those found a typed text means: the one of that very name, else the only one.
 * @returns what is wrong, when it means none or several
 */
export function resolveChoice<P extends Picked>(
  typed: string,
  found: readonly P[],
): { picked: P; isExact: boolean } | { error: string } {
  const same = found.filter(({ display }) => normalise(display) === normalise(typed));
  const [first, ...others] = same.length > 0 ? same : found;
  if (!first) return { error: `There is none named “${typed}”.` };
  if (others.length > 0) return { error: `Several match “${typed}”: choose one from the list.` };
  return { picked: first, isExact: same.length === 1 };
}

function normalise(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
