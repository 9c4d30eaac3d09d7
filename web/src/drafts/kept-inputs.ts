/** What was typed, by its name, in memory only: it may hold health data. */
let kept = new Map<string, unknown>();
let keptOf: string | undefined;

/** What the owner has typed; what somebody else had typed is gone. */
export function keptInputsOf(owner: string): Map<string, unknown> {
  if (keptOf !== owner) {
    kept = new Map();
    keptOf = owner;
  }
  return kept;
}

/** What was typed there is sent or thrown away. */
export function forgetKept(name: string): void {
  kept.delete(name);
}

/** When somebody signs out. */
export function forgetAllKept(): void {
  kept.clear();
}

/** Whether something was typed that only this page's memory holds. */
export function hasKept(): boolean {
  return kept.size > 0;
}
