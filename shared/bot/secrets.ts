import { array, type InferInput, object, string } from 'valibot';
import { type DataKeys, type KeyContext, openBytes, sealBytes } from '../keys/data-keys.ts';
import type { Recent } from '../recent.ts';
import { stored } from '../schema/stored.ts';
import { bytes } from '../schema/values.ts';
import type { Item } from '../table/item.ts';
import type { Key } from '../table/keys.ts';
import { keys } from '../table/keys.ts';
import type { BotSecret } from './contract.ts';

/** Whose secrets: a Project's, which all of its Bots are given, or those of one Bot or Subscription. */
export interface SecretHolder {
  project: string;
  botId?: string;
  subscriptionId?: string;
}

const secretsSchema = object({
  secrets: array(
    object({
      name: string(),
      /** The value, under the data key. */
      sealed: bytes,
      /** The data key of the write that brought it, wrapped. */
      wrapped: bytes,
    }),
  ),
});

/** A secret as it is stored: its name is readable, its value is not. */
export type SealedSecret = InferInput<typeof secretsSchema>['secrets'][number];

const read = stored('list of secrets', secretsSchema);

export function secretsKey({ project, botId, subscriptionId }: SecretHolder): Key {
  if (subscriptionId !== undefined) return keys.subscriptionSecrets(project, subscriptionId);
  return botId === undefined ? keys.projectSecrets(project) : keys.botSecrets(project, botId);
}

export function sealedSecrets(item: Item | undefined): SealedSecret[] {
  return read(item)?.secrets ?? [];
}

/** Seals values under one new data key; none of them is readable here afterwards. */
export async function sealSecrets(
  dataKeys: DataKeys,
  holder: SecretHolder,
  secrets: readonly BotSecret[],
): Promise<SealedSecret[]> {
  if (secrets.length === 0) return [];
  const { plain, wrapped } = await dataKeys.make(contextOf(holder));
  return secrets.map(({ name, ...value }) => ({
    name,
    sealed: sealBytes(plain, Buffer.from(JSON.stringify(value)), boundTo(holder, name)),
    wrapped,
  }));
}

/**
 * Opens what sealSecrets sealed.
 * @param known data keys that this process has opened before, by their wrapped form
 */
export async function openSecrets(
  dataKeys: () => Promise<DataKeys>,
  known: Recent<Uint8Array>,
  holder: SecretHolder,
  secrets: readonly SealedSecret[],
): Promise<BotSecret[]> {
  const wrapped = new Map(secrets.map((secret) => [nameOf(secret), secret.wrapped]));
  const opened = new Map<string, Uint8Array>();
  await Promise.all(
    [...wrapped].map(async ([name, bytes]) => {
      const plain = known.get(name) ?? (await (await dataKeys()).open(bytes, contextOf(holder)));
      known.set(name, plain);
      opened.set(name, plain);
    }),
  );
  return secrets.map((secret) => {
    const plain = opened.get(nameOf(secret)) as Uint8Array;
    const text = Buffer.from(openBytes(plain, secret.sealed, boundTo(holder, secret.name))).toString('utf8');
    return { name: secret.name, ...(JSON.parse(text) as object) };
  });
}

function nameOf({ wrapped }: SealedSecret): string {
  return Buffer.from(wrapped).toString('base64');
}

/** IAM lets the functions that run Bots open this use, and no other function. */
function contextOf({ project, botId, subscriptionId }: SecretHolder): KeyContext {
  return {
    ...{ use: 'portico-bot-secrets', project },
    ...(botId === undefined ? {} : { bot: botId }),
    ...(subscriptionId === undefined ? {} : { subscription: subscriptionId }),
  };
}

/** A value cannot be moved to another holder or name. */
function boundTo({ project, botId, subscriptionId }: SecretHolder, name: string): string {
  const own = subscriptionId === undefined ? [] : [subscriptionId];
  return JSON.stringify([project, botId ?? null, name, ...own]);
}
