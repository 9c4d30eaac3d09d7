import type { Place } from '../../bot/places.ts';

/** What is wrong with a text, and where: line and column from 1, the author's own. */
export class CompileFault extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: Place) {
    super(message);
    this.line = line;
    this.column = column;
  }
}
