import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordOf, typedEntries, typedKeys } from '../../shared/base/values.ts';

const counters = {
  messages_total: 'Messages that came whole, by what became of them',
  acknowledgements_total: 'Acknowledgements that were sent, by code (MSA-1)',
  undelivered_acknowledgements_total: 'Acknowledgements whose sender was gone',
  jobs_total: 'Messages that were accepted into a job, by what became of that',
  unknown_outcomes_total: 'Messages of which nobody knows whether they ran: alarms in the log name them',
  lost_messages_total:
    'Messages that failed and whose sender was not told, as it had asked: alarms in the log name them',
  attempts_total: 'Requests to the service for messages',
  received_bytes_total: 'Content of the messages',
  connections_total: 'Connections that were accepted',
  refused_connections_total: 'Connections that were not, by reason',
  broken_connections_total: 'Connections that were closed for what came or did not come, by reason',
  seconds_sum: 'Seconds from the end of a frame to its outcome',
  seconds_count: 'Outcomes in seconds_sum',
} as const;

const gauges = {
  connections: 'Open connections',
  in_progress: 'Messages whose outcome is awaited',
  signed_in: '1 while there is an access token',
} as const;

export type Counter = keyof typeof counters;
type Gauge = keyof typeof gauges;
type Labels = Record<string, string>;

export type Metrics = ReturnType<typeof newMetrics>;

export function newMetrics() {
  const all = { ...counters, ...gauges };
  const rows = recordOf(typedKeys(all), () => new Map<string, number>());
  return {
    add(name: Counter | Gauge, labels: Labels = {}, by = 1): void {
      const key = printLabels(labels);
      rows[name].set(key, (rows[name].get(key) ?? 0) + by);
    },
    set(name: Gauge, value: number): void {
      rows[name].set('', value);
    },
    /** The sum over all labels. */
    total: (name: Counter | Gauge): number => rows[name].values().reduce((sum, value) => sum + value, 0),
    /** Text exposition format 0.0.4 of Prometheus. */
    print(): string {
      return typedEntries(all)
        .flatMap(([name, help]) => [
          `# HELP portico_mllp_${name} ${help}`,
          `# TYPE portico_mllp_${name} ${name in counters ? 'counter' : 'gauge'}`,
          ...[...(rows[name].size > 0 ? rows[name] : [['', 0] as const])].map(
            ([labels, value]) => `portico_mllp_${name}${labels} ${value}`,
          ),
        ])
        .concat('')
        .join('\n');
    },
  };
}

function printLabels(labels: Labels): string {
  const entries = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return entries.length === 0 ? '' : `{${entries.join(',')}}`;
}

export type HealthServer = Awaited<ReturnType<typeof serveHealth>>;

/**
 * `/healthz` and `/metrics`, for this machine only. 200 while messages are taken; that the service is
 * reachable is a metric and not our health, since a restart would not mend it.
 * @param isStopping while no more messages are taken
 */
export async function serveHealth(port: number, isStopping: () => boolean, metrics: Metrics) {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/healthz' && isRead) {
      const status = isStopping() ? 'stopping' : 'ok';
      const signedIn = metrics.total('signed_in') === 1;
      response.writeHead(status === 'ok' ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status, signedIn }));
    } else if (path === '/metrics' && isRead) {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metrics.print());
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Level = 'info' | 'warn' | 'error' | 'alarm';

/** What a line may hold: names, numbers, times. Never a part of a message but its MSH-10. */
type Fields = Record<string, string | number | boolean | undefined>;

/** `alarm`: somebody has to look at this one message. */
export type FeedLog = (level: Level, event: string, fields?: Fields) => void;

/** MSH-10 holds 199 characters (HL7 v2.7). */
const longestText = 200;

/** One JSON object a line; control characters are escaped, long texts cut. */
export function jsonLog(write: (line: string) => void, now: () => Date = () => new Date()): FeedLog {
  return (level, event, fields = {}) => {
    const cut = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, longestText) : value,
    ]);
    const entry = { time: now().toISOString(), level, event, ...Object.fromEntries(cut) };
    write(`${JSON.stringify(entry)}\n`);
  };
}
