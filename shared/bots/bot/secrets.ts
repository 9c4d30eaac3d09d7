import {
  array,
  boolean,
  exactOptional,
  type GenericSchema,
  type InferInput,
  number,
  object,
  string,
} from 'valibot';
import type { Recent } from '../../base/recent.ts';
import { bytes, stored } from '../../base/schema.ts';
import type { DataKeys, KeyContext } from '../../carry/keys/data-keys.ts';
import { openBytes, sealBytes } from '../../carry/keys/key-ring.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { BotSecret } from '../run/contract.ts';

/** Whose secrets: a Project's, which all of its Bots are given, or those of one Bot or Subscription. */
export interface SecretHolder {
  project: string;
  botId?: string;
  subscriptionId?: string;
}

export const sealedSecret = object({
  name: string(),
  /** The value, under the data key. */
  sealed: bytes,
  /** The data key of the write that brought it, wrapped. */
  wrapped: bytes,
});

/** A secret as it is stored: its name is readable, its value is not. */
export type SealedSecret = InferInput<typeof sealedSecret>;

const read = stored('list of secrets', object({ secrets: array(sealedSecret) }));

const value: GenericSchema<Omit<BotSecret, 'name'>> = object({
  valueString: exactOptional(string()),
  valueBoolean: exactOptional(boolean()),
  valueInteger: exactOptional(number()),
  valueDecimal: exactOptional(number()),
});
const readValue = stored('secret', value);

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
  const opening = new Map<string, Promise<Uint8Array>>();
  const openKey = async (name: string, wrapped: Uint8Array) => {
    const plain = known.get(name) ?? (await (await dataKeys()).open(wrapped, contextOf(holder)));
    known.set(name, plain);
    return plain;
  };
  const keyOf = ({ wrapped }: SealedSecret) => {
    const name = Buffer.from(wrapped).toString('base64');
    const plain = opening.get(name) ?? openKey(name, wrapped);
    opening.set(name, plain);
    return plain;
  };
  return Promise.all(
    secrets.map(async (secret) => {
      const { name, sealed } = secret;
      const text = Buffer.from(openBytes(await keyOf(secret), sealed, boundTo(holder, name))).toString(
        'utf8',
      );
      return { name, ...readValue(JSON.parse(text)) };
    }),
  );
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
