import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Moment } from '../ui/moment.tsx';
import type { Execution } from './executions.ts';
import { LogView } from './log-view.tsx';

interface Props {
  execution: Execution;
  onRequester(requester: string): void;
}

/** One run: when, how it ended, and opened who asked for it, its trace and its log. */
export function ExecutionRow({ execution, onRequester }: Props) {
  const { time, outcome, durationMs, inputType, version, log, requester, requesterName, traceId } = execution;
  const facts = [inputType, durationMs && `${durationMs} ms`, version && `version ${version.slice(0, 8)}`];
  return (
    <details className="record">
      <summary>
        <span className="row-title">
          <Moment at={time} />
        </span>
        <span className="row-side">
          <span className="row-more">{facts.filter(Boolean).join(', ')}</span>
          <Badge kind={outcome === 'returned' ? 'good' : 'bad'}>{outcome}</Badge>
        </span>
      </summary>
      <p className="row-more">
        Run by {requesterName || requester}; trace <code>{traceId}</code>{' '}
        <Button kind="quiet" onPress={() => onRequester(requester)}>
          Only runs by {requesterName || requester}
        </Button>
      </p>
      <LogView log={log} />
    </details>
  );
}
