const prefix = 'portico.draft ';
const longestMs = 24 * 60 * 60_000;

/** A sealed text on this device, and since when. */
interface KeptText {
  atMs: number;
  sealed: string;
}

/**
 * Texts on this device, for 24 hours. They are sealed by who writes them; without storage nothing is kept.
 */
export const keptTexts = {
  read(name: string): KeptText | undefined {
    try {
      const { atMs, sealed } = JSON.parse(localStorage.getItem(prefix + name) ?? '{}');
      if (typeof atMs === 'number' && typeof sealed === 'string' && Date.now() - atMs < longestMs)
        return { atMs, sealed };
      localStorage.removeItem(prefix + name);
    } catch {
      // Then there is none.
    }
    return undefined;
  },
  write(name: string, kept: KeptText): void {
    try {
      localStorage.setItem(prefix + name, JSON.stringify(kept));
    } catch {
      // Storage is full or forbidden: the text lives as long as its page.
    }
  },
  remove(name: string): void {
    try {
      localStorage.removeItem(prefix + name);
    } catch {
      // There is nothing then.
    }
  },
  /** The names that begin so; what has lain for too long goes. */
  names(beginning: string): string[] {
    try {
      const names = Object.keys(localStorage).flatMap((key) =>
        key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
      );
      return names.filter((name) => keptTexts.read(name) && name.startsWith(beginning));
    } catch {
      return [];
    }
  },
};
