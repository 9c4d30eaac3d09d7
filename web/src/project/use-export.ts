import { useEffect, useState } from 'react';
import { messageOf } from '../api/message-of.ts';
import { type Api, useApi } from '../api/use-api.ts';

/** A file of an export. */
export interface ExportedFile {
  type: string;
  url: string;
  count: number;
}

/** How far an export is. */
export type ExportState =
  | { state: 'under-way'; progress: string }
  | { state: 'failed'; message: string }
  | { state: 'ended'; at: string; files: readonly ExportedFile[]; until: string | undefined };

interface Manifest {
  transactionTime: string;
  output: ExportedFile[];
  deleted: ExportedFile[];
  error: ExportedFile[];
}

/** Where the service answers for an export. */
export function pathOfExport(id: string): string {
  return `fhir/R4/bulkdata/export/${encodeURIComponent(id)}`;
}

/** Asks how far an export is until it has ended, as often as the service says. */
export function useExport(id: string): ExportState {
  const api = useApi();
  const [state, setState] = useState<ExportState>({ state: 'under-way', progress: 'accepted' });
  useEffect(() => {
    const gone = new AbortController();
    setState({ state: 'under-way', progress: 'accepted' });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const { next, waitSeconds } = await stateOf(api, id, gone.signal);
      if (gone.signal.aborted) return;
      setState(next);
      if (waitSeconds !== undefined) timer = setTimeout(ask, waitSeconds * 1000);
    };
    // What goes wrong is a state of its own.
    ask().catch(() => undefined);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [api, id]);
  return state;
}

async function stateOf(
  api: Api,
  id: string,
  signal: AbortSignal,
): Promise<{ next: ExportState; waitSeconds?: number }> {
  try {
    const answer = await api.fetch(pathOfExport(id), {}, signal);
    if (answer.status === 202) {
      const progress = answer.headers.get('x-progress') ?? '';
      return {
        next: { state: 'under-way', progress },
        waitSeconds: Number(answer.headers.get('retry-after')) || 10,
      };
    }
    const { transactionTime, output, deleted, error } = (await answer.json()) as Manifest;
    const files = [...output, ...deleted, ...error];
    const expires = Date.parse(answer.headers.get('expires') ?? '');
    const until = Number.isNaN(expires) ? undefined : new Date(expires).toISOString();
    return { next: { state: 'ended', at: transactionTime, files, until } };
  } catch (error) {
    return { next: { state: 'failed', message: messageOf(error) } };
  }
}
