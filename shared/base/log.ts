import { openSync, writeSync } from 'node:fs';

/** One structured line per entry. Never personal data: ids, kinds, counts and times only. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** Where a stage counts figures: one that CloudWatch is to have. */
  measure?(figure: Figure, value: number): void;
}

/** `Latency`: of a request. `IsolateTime`: of a Bot's code. `QueueAge`: of the oldest message of a batch. All in ms. */
type Figure = 'Latency' | 'IsolateTime' | 'QueueAge';

export const consoleLog: Log = {
  info: (message, fields) => write({ level: 'INFO', message, ...fields }),
  error: (message, fields) => write({ level: 'ERROR', message, ...fields }),
};

/** Of these there is one for each function; the others are the stage's. Each costs by the month. */
const ofFunction: readonly Figure[] = ['Latency', 'QueueAge'];

/**
 * A log whose figures CloudWatch makes metrics of: its embedded metric format. The first figure of a process also
 * counts one of `ColdStarts`.
 * @param place stage and function, as in `prod/token`
 */
export function measuringLog(place: string): Log {
  const [stage = '', name = ''] = place.split('/');
  let isCold = true;
  const metrics = (named: Record<string, string>, dimensions: readonly string[]) => ({
    Namespace: `Portico/${stage}`,
    Dimensions: [dimensions],
    Metrics: Object.entries(named).map(([Name, Unit]) => ({ Name, Unit })),
  });
  return {
    ...consoleLog,
    measure(figure, value) {
      const own = metrics({ [figure]: 'Milliseconds' }, ofFunction.includes(figure) ? ['Function'] : []);
      const cold = isCold ? [metrics({ ColdStarts: 'Count' }, [])] : [];
      write({
        _aws: { Timestamp: Date.now(), CloudWatchMetrics: [own, ...cold] },
        Function: name,
        [figure]: value,
        ...(isCold ? { ColdStarts: 1 } : {}),
      });
      isCold = false;
    },
  };
}

function write(entry: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** Where each request leaves a line: who called, and what they were shown. No content, and nothing of a query. */
export interface AccessLog {
  write(line: Readonly<Record<string, unknown>>): void;
}

/** What a line is found by among the other lines of a function. */
export const accessMessage = 'access';

/** On AWS: from the log of the function, `access-records` takes the lines to a log group of their own. */
export const consoleAccessLog: AccessLog = {
  write: (line) => process.stdout.write(textOf(line)),
};

/** On a laptop: a line at the end of a file, which is opened at the first. */
export function fileAccessLog(path: string): AccessLog {
  let file: number | undefined;
  return {
    write(line) {
      file ??= openSync(path, 'a', 0o600);
      writeSync(file, textOf(line));
    },
  };
}

function textOf(line: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ message: accessMessage, ...line })}\n`;
}
