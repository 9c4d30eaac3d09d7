import { useEffect, useState } from 'react';
import { type Api, messageOf, useAction, useApi } from '../api/use-api.ts';
import { useAddressText } from '../api/use-pages.ts';
import { Button, Failure, Moment } from '../ui/basics.tsx';
import { downloadFile } from '../ui/download.ts';

const everything = 'fhir/R4/$export?includeAssociatedData=_history,_code,_people';

/** The Project as files; which export is shown stands in the address, so that a reload finds it again. */
export function ExportTab() {
  const api = useApi();
  const [id, setId] = useAddressText('export');
  const begin = useAction(async () => {
    const answer = await api.fetch(everything, { headers: { prefer: 'respond-async' } });
    setId(answer.headers.get('content-location')?.split('/').at(-1) ?? '');
  });
  return (
    <section className="card narrow" aria-label="Export">
      <p className="muted">
        Every record as it stands and as it was before, files, members, the code of Bots and the audit log:
        one record a line (NDJSON), without secrets. Whoever has these files has all of the project: keep them
        safe.
      </p>
      <Failure message={begin.message} />
      {id === '' ? (
        <div>
          <Button kind="primary" onPress={() => begin.run()} isPending={begin.isBusy}>
            Export everything
          </Button>
        </div>
      ) : (
        <OneExport key={id} id={id} onRemoved={() => setId('')} />
      )}
    </section>
  );
}

function OneExport({ id, onRemoved }: { id: string; onRemoved(): void }) {
  const { fetch } = useApi();
  const found = useExport(id);
  const remove = useAction(async () => {
    await fetch(pathOfExport(id), { method: 'DELETE' });
    onRemoved();
  });
  if (found.state === 'failed') {
    return (
      <>
        <Failure message={found.message} />
        <div>
          <Button onPress={onRemoved}>Begin anew</Button>
        </div>
      </>
    );
  }
  return (
    <>
      {found.state === 'under-way' ? (
        <p role="status">The export goes on: {found.progress}. You may leave this page meanwhile.</p>
      ) : (
        <>
          <p role="status">
            Exported as of <Moment at={found.at} />. The files stay until <Moment at={found.until} />.
          </p>
          <ul className="rows" aria-label="Files of the export">
            {found.files.map((file) => (
              <FileOfExport key={file.url} file={file} />
            ))}
          </ul>
        </>
      )}
      <Failure message={remove.message} />
      <div>
        <Button onPress={() => remove.run()} isPending={remove.isBusy}>
          {found.state === 'under-way' ? 'Cancel the export' : 'Remove the files'}
        </Button>
      </div>
    </>
  );
}

const number = new Intl.NumberFormat();

function FileOfExport({ file: { url, count } }: { file: ExportedFile }) {
  const { fetch } = useApi();
  const name = url.split('/').at(-1) ?? '';
  const download = useAction(async () => {
    const answer = await fetch(url, { headers: { accept: 'application/fhir+ndjson' } });
    downloadFile(name, await answer.blob());
  });
  return (
    <li className="row">
      <div className="row-main">
        <span>{name}</span>
        <span className="muted">{`${number.format(count)} ${count === 1 ? 'line' : 'lines'}`}</span>
        <Failure message={download.message} />
      </div>
      <div className="row-side">
        <Button onPress={() => download.run()} isPending={download.isBusy} aria-label={`Download ${name}`}>
          Download
        </Button>
      </div>
    </li>
  );
}

/** A file of an export. */
interface ExportedFile {
  type: string;
  url: string;
  count: number;
}

/** How far an export is. */
type ExportState =
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
function pathOfExport(id: string): string {
  return `fhir/R4/bulkdata/export/${encodeURIComponent(id)}`;
}

/** Asks how far an export is until it has ended, as often as the service says. */
function useExport(id: string): ExportState {
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
