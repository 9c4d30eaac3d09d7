/** What the editor asks of its compiler, and is told. Places count characters from 0. */
export interface Problem {
  from: number;
  to: number;
  /** An error keeps the code from being deployed; a warning is a type that does not fit. */
  severity: 'error' | 'warning';
  message: string;
}

interface Completion {
  label: string;
  /** As TypeScript names it: `method`, `property`, `keyword`, … */
  kind: string;
}

export interface Questions {
  check: { file: CodeFile };
  complete: { file: CodeFile; at: number };
  describe: { file: CodeFile; at: number };
}

export interface Answers {
  check: Problem[];
  complete: Completion[];
  /** The type of what stands there and its documentation; empty when there is nothing. */
  describe: string;
}

export interface CodeFile {
  name: string;
  text: string;
}

export type Asked = {
  [Kind in keyof Questions]: { id: number; kind: Kind } & Questions[Kind];
}[keyof Questions];
export type Answered = { id: number; answer: Answers[keyof Answers] } | { id: number; failed: string };
