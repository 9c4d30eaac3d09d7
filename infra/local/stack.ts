import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, DynamoDBStreamEvent } from 'aws-lambda';
import { routes } from '../../functions/routes.ts';
import { apiFunctions } from '../api-functions.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { type Demo, provisionDemo } from './demo-projects.ts';
import { useLocalCredentials } from './environment.ts';
import { lockFolder } from './folder-lock.ts';
import { startGateway } from './gateway.ts';
import { startInvoker } from './invoker.ts';
import { mailPages } from './mail-pages.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { followStream } from './stream.ts';
import { startTable } from './table.ts';

export interface Stack {
  baseUrl: string;
  demo: Demo;
  mailbox: Mailbox;
  table: { endpoint: string; tableName: string };
  /** Sends what the mail service did not take; it happens by itself every 15 s. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

interface StackOptions {
  dataDir: string;
  /** 0 takes a free one. */
  port: number;
}

const sweepEveryMs = 15_000;

/** The whole of Portico on this machine. One stack a process: handlers read its environment once. */
export async function startStack({ dataDir, port }: StackOptions): Promise<Stack> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const stops: (() => Promise<void>)[] = [await lockFolder(dataDir)];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const [table, invoker, mailbox] = await Promise.all([
      startTable({ dataDir }).then(keep),
      startInvoker().then(keep),
      startMailbox(join(dataDir, 'mail')).then(keep),
    ]);
    const gateway = keep(
      await startGateway({
        port,
        routes: Object.values(routes),
        loadHandler,
        timeouts: {
          integrationMs: timeoutSeconds.api * 1000,
          functionMs: (name) => apiFunctions[name].timeoutSeconds * 1000,
        },
        pages: [mailPages(mailbox)],
        onFault: reportFault,
      }),
    );
    const baseUrl = gateway.url;
    useLocalCredentials();
    Object.assign(process.env, {
      STAGE: 'local',
      BASE_URL: baseUrl,
      TABLE_NAME: table.tableName,
      DYNAMODB_ENDPOINT: table.endpoint,
      KEYS: `file:${join(dataDir, 'keys.json')}`,
      INVOKER_FUNCTION: invoker.functionName,
      LAMBDA_ENDPOINT: invoker.endpoint,
      SES_ENDPOINT: mailbox.endpoint,
      MAIL_FROM: 'portico@example.org',
    });
    const demo = await provisionDemo(dataDir, baseUrl);
    const outbox = await import('../../functions/outbox/handler.ts');
    keep(
      await followStream({
        ...table,
        positionFile: join(dataDir, 'stream-position'),
        consume: (event: DynamoDBStreamEvent) => outbox.handler(event),
        onFault: reportFault,
      }),
    );
    const sweep = async () => {
      await outbox.handler({ source: 'aws.events' } as never);
    };
    const timer = setInterval(() => sweep().catch(reportFault), sweepEveryMs);
    stops.push(async () => clearInterval(timer));
    return { baseUrl, demo, mailbox, table, sweep, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  function keep<T extends { stop(): Promise<void> }>(part: T): T {
    stops.push(part.stop);
    return part;
  }
}

async function loadHandler(functionName: string) {
  const module = (await import(`../../functions/${functionName}/handler.ts`)) as {
    handler(event: unknown, context: Context): Promise<unknown>;
  };
  return module.handler;
}

function reportFault(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}
