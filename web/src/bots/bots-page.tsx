import type { Bot } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Link } from '../ui/link.tsx';
import { Empty } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';

export function BotsPage() {
  const pages = usePages<Bot>('fhir/R4/Bot?_count=20&_sort=name');
  const row = useCallback((bot: Bot) => <BotRow bot={bot} />, []);
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

function BotRow({ bot: { id, name, description, identifier = [] } }: { bot: Bot }) {
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
    </div>
  );
}
