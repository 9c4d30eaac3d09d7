import { readFile } from 'node:fs/promises';
import { sealedSecrets } from '../../../shared/bot/secrets.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import { environmentFile, type HandlerEnvironment } from '../environment.ts';
import { itemsNow } from './local-recovery.ts';
import { type Place, runStack } from './running-stack.ts';

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
