import type { Bot, Parameters } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { entriesOf, partsOf } from '../api/fhir.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { Badge, Button, Empty, Failure, Loading, Moment, Notice, Output } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { readDeployedCode } from './source.ts';

/** What was deployed, newest first; any of it can run again. */
export function VersionsTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const [done, setDone] = useState<string>();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const answer = await api.get<Parameters>(`fhir/R4/Bot/${bot.id}/$versions?_count=100`, signal);
      return entriesOf(answer, 'version').map(partsOf);
    },
    [api, bot.id],
  );
  const loaded = useLoad(load);
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
        {(versions) =>
          versions.length === 0 ? (
            <Empty title="Nothing is deployed" />
          ) : (
            <ul className="rows" aria-label="Versions">
              {versions.map(({ hash, deployed, filename, current }) => (
                <li className="row" key={`${hash} ${deployed}`}>
                  <VersionRow
                    key={`${hash} ${current}`}
                    bot={bot}
                    version={{
                      hash: String(hash),
                      deployed: String(deployed),
                      filename: String(filename),
                      isCurrent: current === true,
                    }}
                    isBusy={rollBack.isBusy}
                    onRunAgain={rollBack.run}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loading>
    </>
  );
}

interface Version {
  hash: string;
  deployed: string;
  filename: string;
  isCurrent: boolean;
}

interface Props {
  bot: Bot;
  version: Version;
  isBusy: boolean;
  onRunAgain(hash: string): void;
}

/** A version that was deployed: its code, how it differs from what runs, and the way back to it. */
function VersionRow({ bot, version, isBusy, onRunAgain }: Props) {
  const [shown, setShown] = useState<'code' | 'differences'>();
  const { hash, deployed, filename, isCurrent } = version;
  const short = hash.slice(0, 8);
  const toggle = (what: 'code' | 'differences') => setShown(shown === what ? undefined : what);
  return (
    <>
      <div className="row-main">
        <span className="row-title code">{short}</span>
        <span className="row-more">
          {filename}, deployed <Moment at={deployed} />
        </span>
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
            <Button isPending={isBusy} onPress={() => onRunAgain(hash)}>
              Run {short} again
            </Button>
          </>
        )}
      </div>
      {shown && <Shown bot={bot} version={version} what={shown} />}
    </>
  );
}

function Shown({ bot, version, what }: { bot: Bot; version: Version; what: 'code' | 'differences' }) {
  const api = useApi();
  const { hash } = version;
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [own, running] = await Promise.all([
        readDeployedCode(api, bot.id ?? '', { version: hash, signal }),
        what === 'differences' ? readDeployedCode(api, bot.id ?? '', { signal }) : undefined,
      ]);
      return { own, running };
    },
    [api, bot.id, hash, what],
  );
  const short = hash.slice(0, 8);
  return (
    <div className="row-below">
      <Loading of={useLoad(load)}>
        {({ own, running }) => (
          <>
            {(own?.isCompiled || running?.isCompiled) && (
              <p className="muted">
                Of {own?.isCompiled ? 'this version' : 'what runs'} only what was compiled is kept.
              </p>
            )}
            {what === 'code' ? (
              <Output label={`Code of ${short}`} text={own?.text ?? ''} />
            ) : (
              <DiffView
                label={`From what runs to ${short}`}
                before={running?.text ?? ''}
                after={own?.text ?? ''}
              />
            )}
          </>
        )}
      </Loading>
    </div>
  );
}
