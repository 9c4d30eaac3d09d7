import { type Api, useAction, useApi, useLoad, useReloading } from '../api/use-api.ts';
import { useAddress } from '../api/use-pages.ts';
import { ActionButton, Button, Card, counted, Failure, Moment } from '../ui/basics.tsx';
import { downloadFile } from '../ui/download.ts';
import { Row, Rows } from '../ui/lists.tsx';

const everything = 'fhir/R4/$export?includeAssociatedData=_history,_code,_people';

const none = { export: '' };

/** The Project as files; which export is shown stands in the address, so that a reload finds it again. */
export function ExportTab() {
  const api = useApi();
  const { values, change: show } = useAddress(none);
  const id = values.export;
  const begin = useAction(async () => {
    const answer = await api.fetch(everything, { headers: { prefer: 'respond-async' } });
    show({ export: answer.headers.get('content-location')?.split('/').at(-1) ?? '' });
  });
  return (
    <Card label="Export" className="card narrow">
      <p className="muted">
        Every record as it stands and as it was before, files, members, the code of Bots and the audit log:
        one record a line (NDJSON), without secrets. Whoever has these files has all of the project: keep them
        safe.
      </p>
      <Failure message={begin.message} />
      {id === '' ? (
        <ActionButton label="Export everything" kind="primary" action={begin} />
      ) : (
        <OneExport key={id} id={id} onRemoved={() => show(none)} />
      )}
    </Card>
  );
}

function OneExport({ id, onRemoved }: { id: string; onRemoved(): void }) {
  const api = useApi();
  // As often as the service says.
  const loaded = useLoad(id, (signal) => stateOf(api, id, signal));
  const { files, at, until, waitSeconds, progress = 'accepted' } = loaded.value ?? {};
  useReloading(loaded, waitSeconds && waitSeconds * 1000);
  const remove = useAction(async () => {
    await api.send('DELETE', pathOfExport(id));
    onRemoved();
  });
  if (loaded.message !== undefined) {
    return (
      <>
        <Failure message={loaded.message} />
        <Button onPress={onRemoved}>Begin anew</Button>
      </>
    );
  }
  return (
    <>
      {!files ? (
        <p role="status">The export goes on: {progress}. You may leave this page meanwhile.</p>
      ) : (
        <>
          <p role="status">
            Exported as of <Moment at={at} />. The files stay until <Moment at={until} />.
          </p>
          <Rows
            label="Files of the export"
            of={files}
            keyOf={({ url }) => url}
            row={(file) => <FileOfExport {...file} />}
          />
        </>
      )}
      <Failure message={remove.message} />
      <ActionButton label={files ? 'Remove the files' : 'Cancel the export'} action={remove} />
    </>
  );
}

function FileOfExport({ url, count }: ExportedFile) {
  const { fetch } = useApi();
  const name = url.split('/').at(-1) ?? '';
  const download = useAction(async () => {
    const answer = await fetch(url, { headers: { accept: 'application/fhir+ndjson' } });
    downloadFile(name, await answer.blob());
  });
  return (
    <Row
      title={name}
      more={[counted(count, 'line')]}
      side={<ActionButton label="Download" aria-label={`Download ${name}`} action={download} />}
    >
      <Failure message={download.message} />
    </Row>
  );
}

interface ExportedFile {
  url: string;
  count: number;
}

type Manifest = { transactionTime: string } & Record<'output' | 'deleted' | 'error', ExportedFile[]>;

function pathOfExport(id: string): string {
  return `fhir/R4/bulkdata/export/${encodeURIComponent(id)}`;
}

/** How far an export is; `files` once it has ended. */
async function stateOf(api: Api, id: string, signal: AbortSignal) {
  const answer = await api.fetch(pathOfExport(id), {}, signal);
  if (answer.status === 202) {
    const waitSeconds = Number(answer.headers.get('retry-after')) || 10;
    return { progress: answer.headers.get('x-progress') ?? '', waitSeconds };
  }
  const { transactionTime: at, output, deleted, error } = (await answer.json()) as Manifest;
  const expires = Date.parse(answer.headers.get('expires') ?? '');
  const until = Number.isNaN(expires) ? undefined : new Date(expires).toISOString();
  return { progress: 'ended', files: [...output, ...deleted, ...error], at, until };
}
