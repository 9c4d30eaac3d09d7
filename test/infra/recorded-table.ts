import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTable } from '../../infra/local/table.ts';

export interface RecordedTable {
  tableName: string;
  /** A way in of its own for one function: its IAM actions, as seen on the wire. */
  watch(): Promise<{ endpoint: string; actions: ReadonlySet<string> }>;
  stop(): Promise<void>;
}

/** A local table whose every request is noted as the IAM actions that DynamoDB would check it for. */
export async function startRecordedTable(): Promise<RecordedTable> {
  const table = await startTable();
  const servers: ReturnType<typeof createServer>[] = [];
  return {
    tableName: table.tableName,
    async watch() {
      const actions = new Set<string>();
      const server = createServer(async (request, response) => {
        const body = await bodyOf(request);
        const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
        for (const action of actionsOf(operation, body)) actions.add(action);
        const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
        const answer = await fetch(table.endpoint, { method: 'POST', headers: headers as never, body });
        response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, actions };
    },
    async stop() {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      await table.stop();
    },
  };
}

/** A transaction is checked for the actions of its parts. */
function actionsOf(operation: string, body: string): string[] {
  if (operation !== 'TransactWriteItems') return [operation];
  const { TransactItems } = JSON.parse(body) as { TransactItems: Record<string, unknown>[] };
  const parts = {
    Put: 'PutItem',
    Update: 'UpdateItem',
    Delete: 'DeleteItem',
    ConditionCheck: 'ConditionCheckItem',
  };
  return TransactItems.flatMap((item) => Object.keys(item).map((part) => parts[part as keyof typeof parts]));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
