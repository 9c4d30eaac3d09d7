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
  /** `admin/projects/<id>` of this Project. */
  admin: string;
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  /**
   * JSON in, JSON out; with PATCH the body is a JSON Patch.
   * @param versionId of the resource as it was read: refused when somebody else has changed it since
   */
  send<T>(method: string, path: string, body?: unknown, versionId?: string): Promise<T>;
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
    return {
      admin: `admin/projects/${encodeURIComponent(me.project.id)}`,
      get: async <T>(path: string, signal?: AbortSignal): Promise<T> =>
        (await fetchAs(path, {}, signal)).json(),
      async send<T>(method: string, path: string, body?: unknown, versionId?: string) {
        const contentType = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
        const headers: Record<string, string> = versionId ? { 'if-match': `W/"${versionId}"` } : {};
        const content = body === undefined ? {} : { body, contentType };
        const text = await (await fetchAs(path, { method, headers, ...content })).text();
        return (text ? JSON.parse(text) : undefined) as T;
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
    const texts = error.outcome.issue.filter((issue) => !fieldOf(issue, fields)).map(textOfIssue);
    const wait = error.retryAfterSeconds ? ` Try again in ${duration(error.retryAfterSeconds)}.` : '';
    return texts.length > 0 ? [...new Set(texts)].join(' ') + wait : undefined;
  }
  if (error instanceof OAuthError) return 'Your session has ended. Sign in again.';
  if (error instanceof TypeError)
    return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

function fieldErrorsOf(error: unknown, fields: readonly string[]): Record<string, string> {
  if (!(error instanceof OperationOutcomeError)) return {};
  const found: Record<string, string> = {};
  for (const issue of error.outcome.issue) {
    const field = fieldOf(issue, fields);
    if (field) found[field] ??= textOfIssue(issue);
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

/** What an issue says, as a sentence. */
export function textOfIssue(issue: Pick<OutcomeIssue, 'details' | 'diagnostics' | 'code'>): string {
  const text = issue.details?.text ?? issue.diagnostics ?? issue.code;
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

function duration(seconds: number): string {
  const [value, unit] = seconds > 90 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second'];
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

export interface ActionState<Input, Result> {
  /** Does it once: while it runs, calls are ignored. Undefined when it failed. */
  run(input: Input): Promise<Result | undefined>;
  isBusy: boolean;
  /** What went wrong, without what stands at a field. */
  message: string | undefined;
  /** By field, as the service names it. */
  fieldErrors: Record<string, string>;
  clear(): void;
}

type Said = Pick<ActionState<unknown, unknown>, 'message' | 'fieldErrors'>;

const nothing: Said = { message: undefined, fieldErrors: {} };

/** Something that a person does, with what the service said to it. @param fields those that show their own errors */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  fields: readonly string[] = [],
): ActionState<Input, Result> {
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

/** Something that is loaded, and how that stands. */
export interface Loaded<T> {
  /** What was loaded last stays while it is loaded again, and when that fails. */
  value: T | undefined;
  isLoading: boolean;
  message: string | undefined;
  reload(): void;
}

/**
 * Loads something when the page opens, and whenever the key is another.
 * @param before what is shown until it is loaded
 */
export function useLoad<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  before?: T | undefined,
): Loaded<T> {
  const begun = { key, value: before, isLoading: true, message: undefined as string | undefined };
  const [loaded, setLoaded] = useState(begun);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    void round;
    const gone = new AbortController();
    const now = { key, isLoading: false, message: undefined };
    setLoaded(({ value }) => ({ ...now, value, isLoading: true }));
    latest.current(gone.signal).then(
      (value) => gone.signal.aborted || setLoaded({ ...now, value }),
      (error: unknown) =>
        gone.signal.aborted || setLoaded(({ value }) => ({ ...now, value, message: messageOf(error) })),
    );
    return () => gone.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((earlier) => earlier + 1), []);
  return { ...loaded, isLoading: loaded.isLoading || loaded.key !== key, reload };
}

/** Loads what stands at a path of the API. */
export function useGet<T>(path: string): Loaded<T> {
  const { get } = useApi();
  return useLoad<T>(path, (signal) => get<T>(path, signal));
}

/** Loads it again so long after each answer; undefined while nobody wants that. */
export function useReloading({ isLoading, reload }: Loaded<unknown>, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined || isLoading) return;
    const timer = setTimeout(reload, everyMs);
    return () => clearTimeout(timer);
  }, [everyMs, isLoading, reload]);
}
