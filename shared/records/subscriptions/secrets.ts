import { array, type InferInput, object, string } from 'valibot';
import type { Recent } from '../../base/recent.ts';
import { stored } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import {
  openSecrets,
  type SealedSecret,
  type SecretHolder,
  sealedSecret,
  sealSecrets,
} from '../../bots/bot/secrets.ts';
import type { DataKeys } from '../../carry/keys/data-keys.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Extension, extensionName, parseHeader } from './subscription.ts';

/** What stands in a resource for a value that is kept under seal, and in a write for "as it was". */
const masked = '***';

/** A value as it was sent; undefined where it stays as it is. */
export interface SentSecret {
  /** `header:<name>`, or `secret:<n>` in the order of the resource. */
  name: string;
  value: string | undefined;
}

/** A Subscription as it is stored and read, and the values that it was sent with. Its form may be anything. */
export function maskSecrets<T extends { resourceType: string }>(sent: T): { body: T; secrets: SentSecret[] } {
  const secrets: SentSecret[] = [];
  const hide = (name: string, value: string) => {
    secrets.push({ name, value: value === masked ? undefined : value });
    return masked;
  };
  let position = 0;
  const maskExtension = (one: Extension) => {
    if (extensionName(one ?? {}) !== 'secret' || typeof one.valueString !== 'string') return one;
    return { ...one, valueString: hide(`secret:${position++}`, one.valueString) };
  };
  const maskHeader = (text: unknown) => {
    const header = parseHeader(text);
    return header ? `${header.name}: ${hide(`header:${header.name.toLowerCase()}`, header.value)}` : text;
  };
  const { channel, extension } = fieldsOf(sent);
  const header = fieldsOf(channel).header;
  const body = {
    ...sent,
    ...(Array.isArray(extension) ? { extension: extension.map(maskExtension) } : {}),
    ...(Array.isArray(header) ? { channel: { ...fieldsOf(channel), header: header.map(maskHeader) } } : {}),
  };
  return { body, secrets };
}

/** A value that is kept under the seal that it came with, whose name may have been another. */
const keptSecret = object({ ...sealedSecret.entries, as: string() });
export type KeptSecret = InferInput<typeof keptSecret>;

const readKept = stored('list of secrets of a Subscription', object({ secrets: array(keptSecret) }));

/**
 * Seals what was sent; what stays as it was keeps its seal, secrets in their order.
 * @throws {UnknownSecret} for a value that is to stay and never was
 */
export async function sealSent(
  dataKeys: () => Promise<DataKeys>,
  holder: SecretHolder,
  secrets: readonly SentSecret[],
  before: Item | undefined,
): Promise<KeptSecret[]> {
  const earlier = readKept(before)?.secrets ?? [];
  const earlierSecrets = earlier.filter(({ as }) => as.startsWith('secret:')).values();
  const kept = new Map<string, SealedSecret>();
  for (const { name, value } of secrets) {
    if (value !== undefined) continue;
    const found = name.startsWith('secret:')
      ? earlierSecrets.next().value
      : earlier.find(({ as }) => as === name);
    if (!found) throw new UnknownSecret(name);
    kept.set(name, found);
  }
  const fresh = secrets.flatMap(({ name, value }) =>
    value === undefined ? [] : { name, valueString: value },
  );
  const sealed = fresh.length > 0 ? await sealSecrets(await dataKeys(), holder, fresh) : [];
  for (const secret of sealed) kept.set(secret.name, secret);
  return secrets.flatMap(({ name }) => {
    const own = kept.get(name);
    return own ? { ...own, as: name } : [];
  });
}

export class UnknownSecret extends Error {}

/** What goes along with a delivery; of the secrets the one to sign with first. */
export async function openCredentials(
  services: { dataKeys(): Promise<DataKeys>; botMemory: { dataKeys: Recent<Uint8Array> } },
  holder: SecretHolder,
  item: Item | undefined,
): Promise<{ headers: Record<string, string>; secrets: string[] }> {
  const kept = readKept(item)?.secrets ?? [];
  const opened = await openSecrets(services.dataKeys, services.botMemory.dataKeys, holder, kept);
  const named = opened.map(({ valueString = '' }, i) => ({ name: kept[i]?.as ?? '', value: valueString }));
  const headers = named.filter(({ name }) => name.startsWith('header:'));
  const secrets = named.filter(({ name }) => name.startsWith('secret:'));
  return {
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.slice('header:'.length), value])),
    secrets: secrets.map(({ value }) => value),
  };
}
