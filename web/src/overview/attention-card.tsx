import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Badge } from '../ui/badge.tsx';
import { Link } from '../ui/link.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { type AllAttention, type Attention, loadAttention } from './attention.ts';

const bad: ReadonlySet<Attention['kind']> = new Set(['Bot', 'Delivery', 'Emergency access']);

/** What needs somebody's attention, each line leading to its place. */
export function AttentionCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => loadAttention(api, signal), [api]);
  const loaded = useLoad(load);
  return (
    <section className="stack" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <Loading of={loaded}>{(all) => <Items {...all} />}</Loading>
    </section>
  );
}

function Items({ items, missing }: AllAttention) {
  return (
    <>
      {items.length === 0 ? (
        <Empty title="Nothing needs your attention">
          <p>
            Bots and deliveries that failed in the last 24 hours are listed here, invitations that expire
            within two days, API keys that were never used, and emergency access of the last 30 days.
          </p>
        </Empty>
      ) : (
        <ul className="rows" aria-label="Needs attention">
          {items.map((item) => (
            <li className="row" key={`${item.kind} ${item.href}`}>
              <Line {...item} />
            </li>
          ))}
        </ul>
      )}
      {missing.map((text) => (
        <p className="muted" key={text}>
          {text}
        </p>
      ))}
    </>
  );
}

function Line({ kind, name, what, at, href }: Attention) {
  return (
    <>
      <div className="row-main">
        <Link className="link row-title" href={href}>
          {name}
        </Link>
        <span className="row-more">
          {what} {at !== undefined && <Moment at={at} />}
        </span>
      </div>
      <Badge kind={bad.has(kind) ? 'bad' : 'waiting'}>{kind}</Badge>
    </>
  );
}
