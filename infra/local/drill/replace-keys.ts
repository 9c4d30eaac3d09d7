import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { errorText, fieldsOf } from '../../../shared/base/values.ts';
import { sealedSecrets } from '../../../shared/bots/bot/secrets.ts';
import type { Item } from '../../../shared/carry/table/item.ts';
import { keys } from '../../../shared/carry/table/keys.ts';
import { environmentFile, type HandlerEnvironment } from '../environment.ts';
import { itemsNow, linkMailedTo, operate, type Place, type RunningStack, runStack } from './running-stack.ts';

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
    if (phase) await operate(place, tableName, ['infra/local/operate/rotate-key.ts', phase]);
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

const purpose = 'invitation-link';
/** A version is used half a minute after it was made. */
const untilUsedMs = 30_000;

/** One of the stage's secret keys is replaced beside a running stack: links of before and after open. */
export async function replaceStageKey(
  place: Place,
  tableName: string,
  tried: (what: string, is: boolean) => void,
): Promise<void> {
  const command = (step: string) =>
    operate(place, tableName, ['infra/local/operate/stage-keys.ts', purpose, step]);
  const refused = (step: string) =>
    command(step).then(
      () => '',
      (error: unknown) => errorText(error),
    );
  const invited = async (stack: RunningStack) => {
    const email = `key-${randomBytes(3).toString('hex')}@example.org`;
    const body = { resourceType: 'Practitioner', firstName: 'Kay', lastName: 'Drill', email };
    const project = stack.demo.projects[0]?.id ?? '';
    await stack.call('POST', `admin/projects/${project}/invite`, { token: await stack.clientToken(), body });
    return linkMailedTo(place.dataDir, email);
  };
  const stack = await runStack(place, tableName);
  const first = await invited(stack)
    .then(async (link) => {
      await command('prepare');
      tried('a new key is used by nobody at once', (await refused('use')).includes('can be used from'));
      await pause(untilUsedMs);
      await command('use');
      return link;
    })
    .finally(stack.stop);
  // It would know of it in ten minutes by itself.
  const next = await runStack(place, tableName);
  try {
    const link = await invited(next);
    tried('then it makes the links', link.secret.endsWith('.2'));
    for (const one of [first, link]) {
      const body = { ...one, password: 'a drill of four words' };
      const { status } = await next.call('POST', 'auth/setpassword', { body });
      tried('and links of either key open', status === 200);
    }
    tried(
      'the key of before stays while links of it may be good',
      (await refused('retire')).includes('can be retired from'),
    );
  } finally {
    await next.stop();
  }
}

/** A Bot's secret is saved anew: the next run has it, and the data key of before lies nowhere any more. */
export async function replaceBotSecret(
  place: Place,
  tableName: string,
  tried: (what: string, is: boolean) => void,
): Promise<void> {
  const stack = await runStack(place, tableName);
  try {
    const token = await stack.clientToken();
    const path = `admin/projects/${stack.demo.projects[0]?.id ?? ''}/bot`;
    const made = await stack.call('POST', path, { token, body: { name: 'Secret drill' } });
    const bot = String(made.json?.id);
    const code = 'exports.handler = async (_, { secrets }) => ({ has: secrets.KEY.valueString })';
    await stack.call('POST', `fhir/R4/Bot/${bot}/$deploy`, { token, body: { code } });
    const has = async (value: string) => {
      const { json } = await stack.call('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} });
      return json?.has === value;
    };
    const save = (valueString: string) =>
      stack.call('POST', `${path}/${bot}/secrets`, { token, body: [{ name: 'KEY', valueString }] });
    await save('first');
    tried('a run has its secret', await has('first'));
    const before = await dataKeysOf(place, tableName, bot);
    await save('second');
    tried('saved anew, the next run has the new one', await has('second'));
    const after = await dataKeysOf(place, tableName, bot);
    tried(
      'and the data key of before is in the table no more',
      before.length === 1 && after.length === 1 && before[0] !== after[0],
    );
  } finally {
    await stack.stop();
  }
}

/** The wrapped data keys that stand with a Bot. */
async function dataKeysOf({ dataDir }: Place, tableName: string, bot: string): Promise<string[]> {
  const text = await readFile(environmentFile(dataDir), 'utf8');
  const { DYNAMODB_ENDPOINT } = JSON.parse(text) as HandlerEnvironment;
  const items = (await itemsNow(DYNAMODB_ENDPOINT, tableName)).filter(({ pk }) => pk.endsWith(`#Bot#${bot}`));
  const wrapped = items.flatMap(sealedSecretsIn).map((one) => Buffer.from(one.wrapped).toString('base64'));
  return [...new Set(wrapped)];
}

const sealedSecretsIn = (item: Item) => (item.sk === keys.botSecrets('', '').sk ? sealedSecrets(item) : []);
