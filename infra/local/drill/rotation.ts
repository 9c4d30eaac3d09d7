import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { type Place, type RunningStack, runStack } from './running-stack.ts';

/** The signing key is replaced in two phases, while tokens of both are good; then the first one is retired. */
export async function rotate(
  place: Place,
  tableName: string,
  tried: (what: string, is: boolean) => void,
): Promise<void> {
  const after = async <T>(
    phase: string | undefined,
    look: (stack: RunningStack) => Promise<T>,
  ): Promise<T> => {
    if (phase) {
      const env = { ...process.env, NODE_OPTIONS: '', PORTICO_DATA_DIR: place.dataDir };
      await promisify(execFile)(process.execPath, ['infra/local/operate/rotate-key.ts', phase], { env });
    }
    const stack = await runStack(place, tableName);
    return look(stack).finally(stack.stop);
  };
  const first = await after(undefined, (stack) => stack.clientToken());
  const prepared = await after('prepare', async (stack) => ({
    published: await published(stack),
    token: await stack.clientToken(),
  }));
  const next = prepared.published.find((kid) => kid !== kidOf(first));
  tried('the next key is published', prepared.published.length === 2 && next !== undefined);
  tried('and signs nothing yet', kidOf(prepared.token) === kidOf(first));
  await after('sign', async (stack) => {
    const token = await stack.clientToken();
    tried('then it signs', kidOf(token) === next);
    const statuses = await Promise.all(
      [first, token].map((one) => stack.call('GET', 'auth/me', { token: one })),
    );
    tried(
      'and tokens of both are good',
      statuses.every(({ status }) => status === 200),
    );
  });
  await after('retire', async (stack) => {
    const { status } = await stack.call('GET', 'auth/me', { token: first });
    tried('a token of the retired key is good to its end', status === 200);
    tried('new ones are of the other key', kidOf(await stack.clientToken()) === next);
  });
}

async function published(stack: RunningStack): Promise<string[]> {
  const { json } = await stack.call('GET', '.well-known/jwks.json');
  return (Array.isArray(json?.keys) ? json.keys : []).map((key) => String(fieldsOf(key).kid));
}

function kidOf(token: string): string {
  const [header = ''] = token.split('.');
  return String(fieldsOf(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).kid);
}
