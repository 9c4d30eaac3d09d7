import { useCallback } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Badge } from '../ui/badge.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { loadSteps, type Step } from './steps.ts';

/** What is done first in a Project, until all of it is done. */
export function StepsCard() {
  const api = useApi();
  const load = useCallback((signal: AbortSignal) => loadSteps(api, signal), [api]);
  const loaded = useLoad(load);
  return (
    <Loading of={loaded}>
      {(steps) => (steps.every(({ isDone }) => isDone) ? null : <Steps steps={steps} />)}
    </Loading>
  );
}

function Steps({ steps }: { steps: readonly Step[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section className="stack" aria-labelledby="first-steps">
      <h2 id="first-steps">
        First steps{' '}
        <span className="muted">
          {done} of {steps.length} done
        </span>
      </h2>
      <ol className="rows" aria-label="First steps">
        {steps.map((step) => (
          <li className="row" key={step.title}>
            <div className="row-main">
              <span className="row-title">{step.title}</span>
              {!step.isDone && <span className="row-more">{step.why}</span>}
            </div>
            {step.isDone ? (
              <Badge kind="good">Done</Badge>
            ) : (
              <Link className={`button button-${step === next ? 'primary' : 'plain'}`} href={step.href}>
                {step.deed}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
