import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { exactOptional, object } from 'valibot';
import { longestCodeBytes } from '../../shared/bot/bot-item.ts';
import type { BotCode } from '../../shared/bot/contract.ts';
import { stored } from '../../shared/schema/stored.ts';
import { bytes } from '../../shared/schema/values.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';

const readItem = stored('source of a Bot', object({ text: exactOptional(bytes) }));

/**
 * The author's text of a version as an item of its own, which no run reads.
 * @returns undefined where it is what runs anyway, or is longer than an item may be
 */
export function sourceItem(project: string, botId: string, code: BotCode, source: string): Item | undefined {
  if (source === code.text) return undefined;
  const text = deflateRawSync(source);
  return text.length > longestCodeBytes
    ? undefined
    : { ...keys.botSource(project, botId, code.version), text };
}

export function sourceOf(item: Item | undefined): string | undefined {
  const { text } = item ? readItem(item) : {};
  return text === undefined ? undefined : inflateRawSync(text).toString('utf8');
}
