import type { Bot, Parameters } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { entriesOf, partsOf } from '../api/parameters.ts';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Empty, Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { VersionRow } from '../versions/version-row.tsx';

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
