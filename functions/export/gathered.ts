import type { Line } from '../../shared/export/page.ts';

/** So many characters are held until they are written, those of one page more. */
const mostCharacters = 3_000_000;
/** A transaction names the files that it keeps. */
const mostKinds = 60;

/** Lines that are not written yet, by the kind of file that they belong to. */
export function gathered() {
  let lines = new Map<string, string[]>();
  let characters = 0;
  return {
    add(more: readonly Line[]): void {
      for (const { file, text } of more) {
        const own = lines.get(file);
        if (own) own.push(text);
        else lines.set(file, [text]);
        characters += text.length;
      }
    },
    isFull: () => characters >= mostCharacters || lines.size >= mostKinds,
    /** All of them; then there are none. */
    take(): ReadonlyMap<string, readonly string[]> {
      const taken = lines;
      lines = new Map();
      characters = 0;
      return taken;
    },
  };
}

/** What one answer holds with room to spare. A single line may be longer: then it is a file by itself. */
const mostFileBytes = 4_000_000;

/** Lines as the texts of files of bounded size. */
export function inFiles(lines: readonly string[], mostBytes: number = mostFileBytes): string[][] {
  const files: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > mostBytes) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(line);
    bytes += size;
  }
  return files;
}
