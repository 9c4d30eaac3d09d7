import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

export interface Health {
  /** `stopping` while no more messages are taken. */
  isStopping(): boolean;
}

export interface HealthServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * `/healthz` and `/metrics`, for this machine only. 200 while messages are taken; that the service is
 * reachable is a metric and not our health, since a restart would not mend it.
 */
export async function serveHealth(port: number, health: Health, metrics: Metrics): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/healthz' && isRead) {
      const status = health.isStopping() ? 'stopping' : 'ok';
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
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
