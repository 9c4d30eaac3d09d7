import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../infra/local/environment.ts';
import { startStack } from '../infra/local/stack.ts';
import { connectDynamoDb } from '../shared/aws/wire/dynamodb.ts';
import { openTable, type Table } from '../shared/carry/table/table.ts';

export interface BenchStack {
  baseUrl: string;
  projectId: string;
  table: Table;
  /** An access token of the first client. */
  token: string;
  /** What the handlers of the stack are given, as a function on AWS is given its own. */
  environment: Record<string, string>;
  /** The same kind of request to a server that only answers. */
  echo(body: string, contentType: string): Promise<void>;
  /** An authorised POST; throws unless the answer has the status. */
  post(path: string, body: string, contentType: string, status: number): Promise<string>;
  stop(): Promise<void>;
}

/** A fresh stack in an empty folder, its log kept quiet, and an echo beside it. */
export async function startBench(): Promise<BenchStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-'));
  const stack = await startStack({ dataDir, port: 0 });
  const [project] = stack.demo.projects;
  if (!project) throw new Error('There is no demo Project');
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk)).on('end', () => response.end(Buffer.concat(chunks)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const echoUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: project.clientId,
    client_secret: project.clientSecret,
  });
  const asked = await fetch(`${stack.baseUrl}/oauth2/token`, { method: 'POST', body: form });
  const { access_token } = (await asked.json()) as { access_token: string };
  const client = connectDynamoDb(stack.table.endpoint);
  const { tableName } = stack.table;
  return {
    baseUrl: stack.baseUrl,
    projectId: project.id,
    table: openTable(client, tableName, Date.now),
    token: access_token,
    environment: await readEnvironment(dataDir),
    async echo(body, contentType) {
      const answer = await fetch(echoUrl, { method: 'POST', body, headers: { 'content-type': contentType } });
      await answer.text();
    },
    async post(path, body, contentType, status) {
      const headers = { 'content-type': contentType, authorization: `Bearer ${access_token}` };
      const answer = await fetch(`${stack.baseUrl}/${path}`, { method: 'POST', body, headers });
      const text = await answer.text();
      if (answer.status !== status) throw new Error(`${path}: ${answer.status} ${text}`);
      return text;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await stack.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
