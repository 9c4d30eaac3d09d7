import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { errorText, fieldsOf } from '../../../shared/base/values.ts';
import { sealedSecrets } from '../../../shared/bots/bot/secrets.ts';
import { keys } from '../../../shared/carry/table/keys.ts';
import {
  type DrillPlace,
  itemsNow,
  linkMailedTo,
  operate,
  type RunningStack,
  runStack,
} from './running-stack.ts';

type Tried = (what: string, is: boolean) => void;

/** The signing key is replaced in two phases, while tokens of both are good; then the first one is retired. */
export async function replaceSigningKey(place: DrillPlace, tried: Tried): Promise<void> {
  const after = async <T>(phase: string | undefined, look: (stack: RunningStack) => Promise<T>) => {
    if (phase) await operate(place, 'operate/rotate-key', phase);
    await using stack = await runStack(place);
    return await look(stack);
  };
  const isGood = async (stack: RunningStack, token: string) =>
    (await stack.call('GET', 'auth/me', { token })).status === 200;
  const first = await after(undefined, (stack) => stack.clientToken());
  const next = await after('prepare', async (stack) => {
    const { keys: published } = (await stack.call('GET', '.well-known/jwks.json')).json;
    const kids = (published as unknown[]).map((key) => fieldsOf(key).kid);
    const other = kids.find((kid) => kid !== kidOf(first));
    tried('the next key is published', kids.length === 2 && other !== undefined);
    tried('and signs nothing yet', kidOf(await stack.clientToken()) === kidOf(first));
    return other;
  });
  await after('sign', async (stack) => {
    const token = await stack.clientToken();
    tried('then it signs', kidOf(token) === next);
    tried('and tokens of both are good', (await isGood(stack, first)) && (await isGood(stack, token)));
  });
  await after('retire', async (stack) => {
    tried('a token of the retired key is good to its end', await isGood(stack, first));
    tried('new ones are of the other key', kidOf(await stack.clientToken()) === next);
  });
}

function kidOf(token: string): unknown {
  const [header = ''] = token.split('.');
  return fieldsOf(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).kid;
}

const purpose = 'invitation-link';
/** A version is used half a minute after it was made. */
const untilUsedMs = 30_000;

/** One of the stage's secret keys is replaced beside a running stack: links of before and after open. */
export async function replaceStageKey(place: DrillPlace, tried: Tried): Promise<void> {
  const command = (step: string) => operate(place, 'operate/stage-keys', purpose, step);
  const refuses = (step: string, reason: string) =>
    command(step).then(
      () => false,
      (error: unknown) => errorText(error).includes(reason),
    );
  const invited = async (stack: RunningStack) => {
    const email = `key-${randomBytes(3).toString('hex')}@example.org`;
    await stack.invite(await stack.clientToken(), email);
    return linkMailedTo(place, email);
  };
  const replaced = async () => {
    await using stack = await runStack(place);
    const link = await invited(stack);
    await command('prepare');
    tried('a new key is used by nobody at once', await refuses('use', 'can be used from'));
    await pause(untilUsedMs);
    await command('use');
    return link;
  };
  const first = await replaced();
  // It would know of it in ten minutes by itself.
  await using next = await runStack(place);
  const link = await invited(next);
  tried('then it makes the links', link.secret.endsWith('.2'));
  for (const one of [first, link]) {
    const body = { ...one, password: 'a drill of four words' };
    const { status } = await next.call('POST', 'auth/setpassword', { body });
    tried('and links of either key open', status === 200);
  }
  const stays = await refuses('retire', 'can be retired from');
  tried('the key of before stays while links of it may be good', stays);
}

/** A Bot's secret is saved anew: the next run has it, and the data key of before lies nowhere any more. */
export async function replaceBotSecret(place: DrillPlace, tried: Tried): Promise<void> {
  await using stack = await runStack(place);
  const token = await stack.clientToken();
  const code = 'exports.handler = async (_, { secrets }) => ({ has: secrets.KEY.valueString })';
  const bot = await stack.deploy(token, code);
  const saved = async (valueString: string) => {
    const body = [{ name: 'KEY', valueString }];
    await stack.call('POST', `${stack.admin}/bot/${bot}/secrets`, { token, body });
    const { json } = await stack.call('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} });
    return { has: json.has === valueString, dataKeys: await dataKeysOf(place, bot) };
  };
  const first = await saved('first');
  tried('a run has its secret', first.has);
  const second = await saved('second');
  tried('saved anew, the next run has the new one', second.has);
  const [before, after] = [first.dataKeys, second.dataKeys];
  const isGone = before.length === 1 && after.length === 1 && before[0] !== after[0];
  tried('and the data key of before is in the table no more', isGone);
}

/** The wrapped data keys that stand with a Bot. */
async function dataKeysOf(place: DrillPlace, bot: string): Promise<string[]> {
  const { sk: ofSecrets } = keys.botSecrets('', '');
  const items = (await itemsNow(place)).filter(
    ({ pk, sk }) => pk.endsWith(`#Bot#${bot}`) && sk === ofSecrets,
  );
  const wrapped = items.flatMap(sealedSecrets).map((one) => Buffer.from(one.wrapped).toString('base64'));
  return [...new Set(wrapped)];
}
