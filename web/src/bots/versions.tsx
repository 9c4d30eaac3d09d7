import type { Binary, Bot, Parameters, ParametersParameter } from '@medplum/fhirtypes';
import { useState } from 'react';
import { entriesOf, partsOf } from '../api/fhir.ts';
import { type Api, nothingFor, useAction, useApi, useLoad } from '../api/use-api.ts';
import { Badge, Button, Failure, Loading, Moment, Notice, Output } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { Rows } from '../ui/lists.tsx';

/** What was deployed, newest first; any of it can run again. */
export function VersionsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const [done, setDone] = useState<string>();
  const loaded = useLoad(`${bot.id}`, async (signal) => {
    const answer = await api.get<Parameters>(`fhir/R4/Bot/${bot.id}/$versions?_count=100`, signal);
    return entriesOf(answer, 'version').map(versionOf);
  });
  const rollBack = useAction(async (version: string) => {
    setDone(undefined);
    await api.send('POST', `fhir/R4/Bot/${bot.id}/$rollback`, { version });
    setDone(`Version ${version.slice(0, 8)} runs from now on.`);
    loaded.reload();
  });
  return (
    <>
      <Failure message={rollBack.message} />
      {done && <Notice kind="good">{done}</Notice>}
      <Loading of={loaded}>
        {(versions) => (
          <Rows
            label="Versions"
            of={versions}
            keyOf={({ hash, deployed, isCurrent }) => `${hash} ${deployed} ${isCurrent}`}
            empty="Nothing is deployed"
            row={(version) => (
              <VersionRow
                botId={bot.id ?? ''}
                version={version}
                isBusy={rollBack.isBusy}
                onRunAgain={() => rollBack.run(version.hash)}
              />
            )}
          />
        )}
      </Loading>
    </>
  );
}

type Version = ReturnType<typeof versionOf>;

function versionOf(entry: ParametersParameter) {
  const { hash, deployed, filename, current } = partsOf(entry);
  return {
    hash: String(hash),
    deployed: String(deployed),
    filename: String(filename),
    isCurrent: current === true,
  };
}

interface Props {
  botId: string;
  version: Version;
  isBusy: boolean;
  onRunAgain(): void;
}

function VersionRow({ botId, version, isBusy, onRunAgain }: Props) {
  const [shown, setShown] = useState<'code' | 'differences'>();
  const { hash, deployed, filename, isCurrent } = version;
  const short = hash.slice(0, 8);
  const toggle = (what: 'code' | 'differences') => setShown(shown === what ? undefined : what);
  return (
    <>
      <div className="row-main">
        <span className="row-title code">{short}</span>
        <Moment className="row-more" before={`${filename}, deployed`} at={deployed} />
      </div>
      <div className="row-side">
        <Button aria-expanded={shown === 'code'} onPress={() => toggle('code')}>
          Code<span className="visually-hidden"> of {short}</span>
        </Button>
        {isCurrent ? (
          <Badge kind="good">Runs now</Badge>
        ) : (
          <>
            <Button aria-expanded={shown === 'differences'} onPress={() => toggle('differences')}>
              Differences<span className="visually-hidden"> of {short} from what runs</span>
            </Button>
            <Button isPending={isBusy} onPress={onRunAgain}>
              Run {short} again
            </Button>
          </>
        )}
      </div>
      {shown && <Shown botId={botId} hash={hash} isDiff={shown === 'differences'} />}
    </>
  );
}

function Shown({ botId, hash, isDiff }: { botId: string; hash: string; isDiff: boolean }) {
  const api = useApi();
  const short = hash.slice(0, 8);
  const loaded = useLoad(`${hash} ${isDiff}`, (signal) =>
    Promise.all([
      readDeployedCode(api, botId, { version: hash, signal }),
      isDiff ? readDeployedCode(api, botId, { signal }) : undefined,
    ]),
  );
  return (
    <div className="row-below">
      <Loading of={loaded}>
        {([own, running]) => (
          <>
            {(own?.isCompiled || running?.isCompiled) && (
              <p className="muted">
                Of {own?.isCompiled ? 'this version' : 'what runs'} only what was compiled is kept.
              </p>
            )}
            {isDiff ? (
              <DiffView
                label={`From what runs to ${short}`}
                before={running?.text ?? ''}
                after={own?.text ?? ''}
              />
            ) : (
              <Output label={`Code of ${short}`}>{own?.text}</Output>
            )}
          </>
        )}
      </Loading>
    </div>
  );
}

/** Its file's ending says which language and which kind of module it is. */
export type Source = Awaited<ReturnType<typeof readSource>>;

/** The source that the Bot names, which is a Binary; empty when it names none. */
export async function readSource(api: Api, botId: string, signal?: AbortSignal) {
  const bot = await api.get<Bot>(`fhir/R4/Bot/${botId}`, signal);
  const { url, title = 'index.ts' } = bot.sourceCode ?? {};
  const id = /Binary\/([\w.-]+)$/.exec(url ?? '')?.[1];
  if (!id) return { text: '', filename: title };
  const answer = await api.fetch(`fhir/R4/Binary/${id}`, {}, signal);
  return { text: await answer.text(), filename: title };
}

/** Keeps the source, whether or not it compiles: a Binary, and the Bot names it. */
export async function saveSource(api: Api, botId: string, { text, filename }: Source): Promise<void> {
  const contentType = /\.[cm]?ts$/.test(filename) ? 'text/typescript' : 'text/javascript';
  const kept = await api.fetch(`fhir/R4/Binary?_filename=${encodeURIComponent(filename)}`, {
    method: 'POST',
    body: new Blob([text], { type: contentType }),
    headers: { 'x-security-context': `Bot/${botId}` },
  });
  const { id } = (await kept.json()) as Binary;
  const sourceCode = { contentType, url: `Binary/${id}`, title: filename };
  await api.send('PATCH', `fhir/R4/Bot/${botId}`, [{ op: 'add', path: '/sourceCode', value: sourceCode }]);
}

/** The code of a version. */
export type VersionCode = NonNullable<Awaited<ReturnType<typeof readDeployedCode>>>;

/** @param version a hash; without it what runs @returns undefined when nothing is deployed */
export async function readDeployedCode(
  api: Api,
  botId: string,
  { version, signal }: { version?: string; signal?: AbortSignal } = {},
) {
  const query = version === undefined ? '' : `?version=${version}`;
  const path = `fhir/R4/Bot/${botId}/$code${query}`;
  const found = await api.get<Parameters>(path, signal).catch(nothingFor(404));
  if (!found) return undefined;
  const { hash, filename, code, compiled } = partsOf({ part: found.parameter ?? [] });
  const isCompiled = compiled === true;
  return { hash: String(hash), filename: String(filename), text: String(code), isCompiled };
}
