import type { Bot, Reference } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { usePages } from '../api/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';

/** `admin/projects/<id>/failures`, as far as it is of Bots. */
interface Runs {
  ran: { bot: Reference; at: string }[];
  bots: { bot: Reference; looked: number; failed: number }[];
  /** Every Bot that ran is among them. */
  complete: boolean;
}

export function BotsPage() {
  const pages = usePages<Bot>('fhir/R4/Bot?_count=20&_sort=name');
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => api.get<Runs>(`${api.admin}/failures`, signal), [api]);
  const { value: runs } = useLoad(load);
  const row = useCallback((bot: Bot) => <BotRow bot={bot} runs={runs} />, [runs]);
  return (
    <Page
      title="Bots"
      actions={
        <Link className="button button-primary" href="/bots/new">
          Create a Bot
        </Link>
      }
    >
      <PagedList
        pages={pages}
        label="Bots"
        row={row}
        empty={
          <Empty title="No Bots yet">
            <p>A Bot is code of yours that runs when a message arrives.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function BotRow({ bot, runs }: { bot: Bot; runs: Runs | undefined }) {
  const { id, name, description, identifier = [] } = bot;
  return (
    <div className="row-main">
      <Link className="link row-title" href={`/bots/${id}`}>
        {name}
      </Link>
      {description && <span className="row-more">{description}</span>}
      {identifier.map(({ system = '', value = '' }) => (
        <span className="row-more code" key={`${system}|${value}`}>
          {system}|{value}
        </span>
      ))}
      {runs && <LastRun runs={runs} reference={`Bot/${id}`} />}
    </div>
  );
}

function LastRun({ runs, reference }: { runs: Runs; reference: string }) {
  const ran = runs.ran.find(({ bot }) => bot.reference === reference);
  const failing = runs.bots.find(({ bot }) => bot.reference === reference);
  if (!ran) return runs.complete ? <span className="row-more">No run in the last 24 hours</span> : null;
  return (
    <span className="row-more">
      Last run <Moment at={ran.at} />
      {failing && `, ${failing.failed} of the latest ${failing.looked} failed`}
    </span>
  );
}
