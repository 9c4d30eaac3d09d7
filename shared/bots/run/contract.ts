/**
 * All that the execute functions and the invoker share: one run of one Bot, as plain JSON.
 * The invoker trusts nothing else, holds no credentials and never throws because of a Bot.
 */

/** How a Bot's code is packed. `text` is JavaScript: TypeScript is stripped when the Bot is deployed. */
export interface BotCode {
  /** sha256 of the author's text, hex: names the immutable version. */
  version: string;
  format: 'esm' | 'cjs';
  filename: string;
  text: string;
}

/** What a Bot may be sent; `none` is no body at all. */
export const inputKinds = ['none', 'text', 'json', 'form', 'fhir', 'hl7'] as const;

/** The checked input; the guest parses `text` itself, so that values cross as they were sent. */
export interface RunInput {
  kind: (typeof inputKinds)[number];
  /** JSON for json, form and fhir; the text itself for text and hl7; absent for none. */
  text?: string;
}

/** What the Bot sees beside its input. */
interface RunEvent {
  bot: { reference: string; display?: string };
  contentType?: string;
  requester: { reference: string; display?: string };
  headers: Record<string, string>;
  secrets: Record<string, BotSecret>;
  traceId: string;
}

export interface BotSecret {
  name: string;
  valueString?: string;
  valueBoolean?: boolean;
  valueInteger?: number;
  valueDecimal?: number;
}

export interface RunLimits {
  /** Wall time for the Bot, in ms. */
  timeoutMs: number;
  /** Heap of the isolate, in MiB. */
  memoryMb: number;
  /** Bytes of the serialised result. */
  resultBytes: number;
  /** Bytes of the console log kept. */
  logBytes: number;
  /** Requests that it may make, to the API and elsewhere. */
  calls: number;
}

/** `run` calls the handler; `check` compiles, evaluates and looks for the exported handler only. */
export interface RunRequest {
  kind: 'run' | 'check';
  runId: string;
  /** The tenant: a child process never serves two. */
  project: string;
  code: BotCode;
  input: RunInput;
  event: RunEvent;
  limits: RunLimits;
  /** Where `fetch` may go beside the API: host names, `*.` before one for all below it. */
  fetchHosts?: { allow?: string[]; deny?: string[] };
  /** Absolute, ms since the epoch: nothing of the run goes on after it. */
  deadlineAtMs: number;
  /** By any of these it is cancelled: the API, asked now and then, says so. */
  cancelKeys?: readonly string[];
  /** The API for the Bot's own client; the host adds the token, the guest never sees it. */
  api?: { baseUrl: string; token: string };
}

/** A value as the guest serialised it. `json` carries JSON text, the others the text itself. */
export type ReturnedValue =
  | { type: 'undefined' }
  | { type: 'json'; text: string }
  | { type: 'string'; text: string }
  | { type: 'hl7'; text: string };

export type RunOutcome =
  | { kind: 'returned'; value: ReturnedValue }
  /** `outcome` is JSON of the OperationOutcome when the Bot threw an OperationOutcomeError. */
  | { kind: 'threw'; name: string; message: string; stack?: string; outcome?: string }
  | { kind: 'unserialisable'; message: string }
  /** Somebody who may wished it so. */
  | { kind: 'cancelled'; message: string }
  | { kind: 'limit'; limit: 'time' | 'memory' | 'output'; message: string }
  | { kind: 'not-compiled'; message: string; line?: number; column?: number }
  | { kind: 'no-handler'; message: string };

export interface LogEntry {
  atMs: number;
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

export interface RunResult {
  outcome: RunOutcome;
  log: LogEntry[];
  /** The log was cut at `limits.logBytes`. */
  logTruncated: boolean;
  /** Wall time of the run inside the sandbox, in ms. */
  durationMs: number;
}

/** An author's file, to be made into what runs: parsed and its types stripped, evaluated by nobody. */
export interface CompileRequest {
  kind: 'compile';
  project: string;
  /** Its extension says the language and, unless it is `.js` or `.ts`, the kind of module. */
  filename: string;
  source: string;
  deadlineAtMs: number;
}

export type Compiled =
  /** `places` only where lines or columns are no longer the author's. */
  | { kind: 'compiled'; format: BotCode['format']; text: string; places?: Places }
  | { kind: 'refused'; message: string; line?: number; column?: number };

/** The name of the error of an invoker whose sandbox did not start: nothing has run, a repeat is safe. */
export const sandboxNotStarted = 'SandboxNotStarted';

/** Where a stack, or a text that quotes one, names a position: the file's name, line and column. */
export const codePosition = /(?<![\w.-])([\w.-]{1,100}):(\d{1,9}):(\d{1,9})/g;

/** Positions of compiled code and the author's: what is kept of a source map, which is a customer's text. */

/** From 1, columns in UTF-16 units, as engines count. */
export interface CodePosition {
  line: number;
  column: number;
}

/**
 * Four whole numbers for each token, in ascending order: line and column of the compiled code, line and column of
 * the author's file.
 */
export type Places = number[];

/** The author's place for one of the compiled code: that of the last token which begins no later. */
export function originOf(places: Places, { line, column }: CodePosition): CodePosition {
  const at = (token: number, field: number) => places[token * 4 + field] ?? 1;
  let low = 0;
  let high = places.length / 4;
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore = at(middle, 0) < line || (at(middle, 0) === line && at(middle, 1) <= column);
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? { line, column } : { line: at(low - 1, 2), column: at(low - 1, 3) };
}

export type InputKind = Exclude<RunInput['kind'], 'none'>;

/** The content types that a Bot takes, by what its input becomes. The app and the API reference are made with this list. */
export const inputTypes = {
  text: 'text/plain',
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  fhir: 'application/fhir+json',
  hl7: 'x-application/hl7-v2+er7',
} as const satisfies Record<InputKind, string>;

export type InputType = (typeof inputTypes)[InputKind];

const credential =
  /auth|cookie|token|secret|passw|credential|assertion|jwt|(?<!^idempotency-)key|signature|session/i;

/**
 * Whether a header's name is that of a credential, or may be. Such a header stays with whom it was meant for: Bots
 * do not see those of their requests, and a redirect to another origin does not carry them on.
 */
export function isCredentialHeader(name: string): boolean {
  return credential.test(name);
}
