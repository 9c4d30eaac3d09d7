import { useAction } from '../api/use-action.ts';
import { useAddressText } from '../api/use-address-state.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { downloadFile } from '../ui/download.ts';
import { Moment } from '../ui/moment.tsx';
import { Failure } from '../ui/notice.tsx';
import { type ExportedFile, pathOfExport, useExport } from './use-export.ts';

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
