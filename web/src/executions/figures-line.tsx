import type { Bot, Parameters } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { partsOf } from '../api/parameters.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const count = new Intl.NumberFormat();

/** How a Bot has done in the last 24 hours, in a line. */
export function FiguresLine({ bot }: { bot: Bot }) {
  const api = useApi();
  const [search] = useSearchParams();
  const tab = search.get('tab');
  const load = useCallback(
    async (signal: AbortSignal) => {
      // Looked up again with every tab: it may have run meanwhile.
      void tab;
      const { parameter = [] } = await api.get<Parameters>(`fhir/R4/Bot/${bot.id}/$figures`, signal);
      return partsOf({ name: '', part: parameter });
    },
    [api, bot.id, tab],
  );
  const { value } = useLoad(load);
  if (!value) return <p className="muted">Last 24 hours: …</p>;
  const { runs, failed, p50Ms, p95Ms, complete } = value;
  if (runs === 0) return <p className="muted">Last 24 hours: no runs.</p>;
  const which = complete === true ? 'Last 24 hours' : 'Its latest';
  return (
    <p className="muted">
      {which}: {count.format(Number(runs))} {runs === 1 ? 'run' : 'runs'},{' '}
      {percent.format(Number(failed) / Number(runs))} failed, p50 {String(p50Ms)} ms, p95 {String(p95Ms)} ms
    </p>
  );
}
