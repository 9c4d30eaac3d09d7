import { useMemo } from 'react';
import type { ApiRequest } from '../../../client/src/index.ts';
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
