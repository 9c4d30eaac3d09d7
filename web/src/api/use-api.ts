import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import {
  type ApiRequest,
  OAuthError,
  OperationOutcomeError,
  type OutcomeIssue,
} from '../../../client/src/index.ts';
import { hasEnded } from '../session/session.ts';
import { endedNotice, useSession, useSessionState } from '../session/session-context.tsx';

export interface Api {
  projectId: string;
  /** `admin/projects/<id>` of this Project. */
  admin: string;
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  /** JSON in, JSON out; no body when left out. */
  send<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
  /** The answer as it came. @throws {OperationOutcomeError} */
  fetch(path: string, request?: ApiRequest, signal?: AbortSignal): Promise<Response>;
}

/** The API as the person who is signed in. A session that the service has ended ends here too. */
export function useApi(): Api {
  const { portico, me } = useSession();
  const { end } = useSessionState();
  return useMemo(() => {
    const fetchAs = async (path: string, request?: ApiRequest, signal?: AbortSignal) => {
      try {
        return await portico.fetch(path, request, signal ? { signal } : {});
      } catch (error) {
        if (hasEnded(error)) end(endedNotice);
        throw error;
      }
    };
    const json = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
    return {
      projectId: me.project.id,
      admin: `admin/projects/${encodeURIComponent(me.project.id)}`,
      get: <T>(path: string, signal?: AbortSignal) => json<T>(fetchAs(path, {}, signal)),
      send: <T>(method: string, path: string, body?: unknown, headers = {}) => {
        const content = body === undefined ? {} : { body, contentType: 'application/json' };
        return json<T>(fetchAs(path, { method, headers, ...content }));
      },
      fetch: fetchAs,
    };
  }, [portico, me, end]);
}

/**
 * An error as a sentence for a person; undefined when all of it stands at a field.
 * @param fields whose issues are shown elsewhere
 */
export function messageOf(error: unknown): string;
export function messageOf(error: unknown, fields: readonly string[]): string | undefined;
export function messageOf(error: unknown, fields: readonly string[] = []): string | undefined {
  if (error instanceof OperationOutcomeError) {
    const texts = error.outcome.issue.filter((issue) => !fieldOf(issue, fields)).map(textOf);
    const wait = error.retryAfterSeconds ? ` Try again in ${duration(error.retryAfterSeconds)}.` : '';
    return texts.length > 0 ? [...new Set(texts)].join(' ') + wait : undefined;
  }
  if (error instanceof OAuthError) return 'Your session has ended. Sign in again.';
  if (error instanceof TypeError)
    return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

/** The texts of an error by the field that they are about. */
function fieldErrorsOf(error: unknown, fields: readonly string[]): Record<string, string> {
  if (!(error instanceof OperationOutcomeError)) return {};
  const found: Record<string, string> = {};
  for (const issue of error.outcome.issue) {
    const field = fieldOf(issue, fields);
    if (field) found[field] ??= textOf(issue);
  }
  return found;
}

/** `access[0].policy` belongs to the field `access`, `identifier[0].value` to `identifier`. */
function fieldOf({ expression = [] }: OutcomeIssue, fields: readonly string[]): string | undefined {
  return fields.find((field) =>
    expression.some(
      (path) => path === field || (/^[.[]/.test(path.slice(field.length)) && path.startsWith(field)),
    ),
  );
}

function textOf({ details, diagnostics, code }: OutcomeIssue): string {
  return sentence(details?.text ?? diagnostics ?? code);
}

function sentence(text: string): string {
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

function duration(seconds: number): string {
  const [value, unit] = seconds > 90 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second'];
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

export interface Action<Input, Result> {
  /** Does it once: while it runs, calls are ignored. Undefined when it failed. */
  run(input: Input): Promise<Result | undefined>;
  isBusy: boolean;
  /** What went wrong, without what stands at a field. */
  message: string | undefined;
  /** By field, as the service names it. */
  fieldErrors: Record<string, string>;
  clear(): void;
}

type Said = Pick<Action<unknown, unknown>, 'message' | 'fieldErrors'>;

const nothing: Said = { message: undefined, fieldErrors: {} };

/** Something that a person does, with what the service said to it. @param fields those that show their own errors */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  fields: readonly string[] = [],
): Action<Input, Result> {
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState(nothing);
  const running = useRef(false);
  const run = async (input: Input) => {
    if (running.current) return undefined;
    running.current = true;
    setBusy(true);
    setSaid(nothing);
    try {
      return await act(input);
    } catch (thrown) {
      // Kept as one object: a form clears an error of the service when its field is changed, once.
      setSaid({ message: messageOf(thrown, fields), fieldErrors: fieldErrorsOf(thrown, fields) });
      return undefined;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  const clear = useCallback(() => setSaid(nothing), []);
  return { run, isBusy, ...said, clear };
}

export type Loaded<T> =
  | { state: 'loading'; value?: T }
  | { state: 'failed'; message: string; value?: T }
  | { state: 'ready'; value: T };

/**
 * Loads something when the page opens and whenever `load` changes (keep it in useCallback). What was
 * loaded stays in view while it is loaded again.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> & { reload(): void } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  useEffect(() => {
    void round;
    const gone = new AbortController();
    const unlessGone = (next: (before: Loaded<T>) => Loaded<T>) => {
      if (!gone.signal.aborted) setLoaded(next);
    };
    setLoaded((before) => withValue({ state: 'loading' }, before));
    load(gone.signal).then(
      (value) => unlessGone(() => ({ state: 'ready', value })),
      (error: unknown) =>
        unlessGone((before) => withValue({ state: 'failed', message: messageOf(error) }, before)),
    );
    return () => gone.abort();
  }, [load, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...loaded, reload };
}

/** Loads what stands at a path of the API. */
export function useGet<T>(path: string): Loaded<T> & { reload(): void } {
  const { get } = useApi();
  return useLoad(useCallback((signal: AbortSignal) => get<T>(path, signal), [get, path]));
}

function withValue<T>(next: Loaded<T>, before: Loaded<T>): Loaded<T> {
  return before.value === undefined ? next : { ...next, value: before.value };
}
