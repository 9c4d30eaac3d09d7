import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react';
import {
  type ApiRequest,
  OAuthError,
  OperationOutcomeError,
  type OutcomeIssue,
} from '../../../client/src/index.ts';
import { hasEnded } from '../session/session.ts';
import { endedNotice, endSession, useSession } from '../session/session-state.ts';

export type Api = ReturnType<typeof useApi>;

/** Loads again all that is shown around, as each Loading provides. */
export const ReloadAround = createContext(() => {});

/** The API as the person who is signed in. A session that the service has ended ends here too. */
export function useApi() {
  const { portico, me } = useSession();
  const reload = useContext(ReloadAround);
  return useMemo(() => {
    const fetchAs = async (path: string, request?: ApiRequest, signal?: AbortSignal) => {
      try {
        return await portico.fetch(path, request, signal ? { signal } : {});
      } catch (error) {
        if (hasEnded(error)) endSession(endedNotice);
        throw error;
      }
    };
    /**
     * JSON in, JSON out; with PATCH the body is a JSON Patch.
     * @param versionId of the resource as it was read: refused when somebody else has changed it since
     */
    const send = async <T>(method: string, path: string, body?: unknown, versionId?: string) => {
      const contentType = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
      const headers: Record<string, string> = versionId ? { 'if-match': `W/"${versionId}"` } : {};
      const content = body === undefined ? {} : { body, contentType };
      const text = await (await fetchAs(path, { method, headers, ...content })).text();
      return (text ? JSON.parse(text) : undefined) as T;
    };
    return {
      /** `admin/projects/<id>` of this Project. */
      admin: `admin/projects/${encodeURIComponent(me.project.id)}`,
      get: async <T>(path: string, signal?: AbortSignal): Promise<T> =>
        (await fetchAs(path, {}, signal)).json(),
      send,
      /** As `send`; then what is shown around is loaded again. */
      async change<T>(...request: Parameters<typeof send>) {
        const answer = await send<T>(...request);
        reload();
        return answer;
      },
      /** The answer as it came. @throws {OperationOutcomeError} */
      fetch: fetchAs,
    };
  }, [portico, me, reload]);
}

/** For `catch`: nothing in place of a refusal with that status; any other error is thrown on. */
export function nothingFor(status: number) {
  return (error: unknown): undefined => {
    if (!(error instanceof OperationOutcomeError && error.status === status)) throw error;
  };
}

/** An error as a sentence for a person. */
export function messageOf(error: unknown): string {
  return saidOf(error, []).message ?? '';
}

/** What the service said: at the fields that show their own errors, and the rest as a sentence. */
function saidOf(error: unknown, fields: readonly string[]): Said {
  const fieldErrors: Record<string, string> = {};
  if (error instanceof OperationOutcomeError) {
    const texts = new Set<string>();
    for (const issue of error.outcome.issue) {
      const field = fieldOf(issue, fields);
      if (field === undefined) texts.add(textOfIssue(issue));
      else fieldErrors[field] ??= textOfIssue(issue);
    }
    const wait = error.retryAfterSeconds ? ` Try again in ${duration(error.retryAfterSeconds)}.` : '';
    return { message: texts.size > 0 ? [...texts].join(' ') + wait : undefined, fieldErrors };
  }
  if (error instanceof OAuthError) return { message: endedNotice, fieldErrors };
  if (error instanceof TypeError)
    return { message: 'The service cannot be reached. Check your connection and try again.', fieldErrors };
  return { message: error instanceof Error ? error.message : 'Something went wrong.', fieldErrors };
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

export type ActionState<Input = void> = ReturnType<typeof useAction<Input>>;

interface Said {
  /** What went wrong, without what stands at a field. */
  message: string | undefined;
  /** By field, as the service names it. */
  fieldErrors: Record<string, string>;
}

const nothing: Said = { message: undefined, fieldErrors: {} };

/** Something that a person does, with what the service said to it. @param fields those that show their own errors */
export function useAction<Input = void>(
  act: (input: Input) => Promise<unknown>,
  fields: readonly string[] = [],
) {
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState(nothing);
  const running = useRef(false);
  /** Does it once: while it runs, calls are ignored. */
  const run = async (input: Input) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setSaid(nothing);
    try {
      await act(input);
    } catch (thrown) {
      // Kept as one object: a form clears an error of the service when its field is changed, once.
      setSaid(saidOf(thrown, fields));
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  const clear = useCallback(() => setSaid(nothing), []);
  return { run, isBusy, ...said, clear };
}

/** Something that is loaded, and how that stands. */
export type Loaded<T> = Omit<ReturnType<typeof useLoad<T>>, 'key'>;

/**
 * Loads something when the page opens, and whenever the key is another.
 * @param before what is shown until it is loaded
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>, before?: T | undefined) {
  // What was loaded last stays while it is loaded again, and when that fails.
  const begun = { key, value: before, isLoading: true, message: undefined as string | undefined };
  const [loaded, setLoaded] = useState(begun);
  const [round, setRound] = useState(0);
  const loadNow = useEffectEvent(load);
  useEffect(() => {
    void round;
    const gone = new AbortController();
    const now = { key, isLoading: false, message: undefined };
    setLoaded(({ value }) => ({ ...now, value, isLoading: true }));
    loadNow(gone.signal).then(
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
export function useGet<T>(path: string) {
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
