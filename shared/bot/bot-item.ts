import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { boolean, exactOptional, object, optional, picklist, string } from 'valibot';
import type { Resource } from '../fhir/resource.ts';
import { stored } from '../schema/stored.ts';
import { bytes } from '../schema/values.ts';
import { inlineResource } from '../store/inline.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { BotCode } from './contract.ts';

/** A Bot's head: the resource, its membership, and the pointer to the deployed code. */
export interface StoredBot {
  resource: Resource;
  membershipId: string;
  /** Hash of the deployed code; undefined before the first deploy. */
  codeVersion: string | undefined;
}

/** One immutable version. */
export interface DeployedCode extends BotCode {
  /** Lines are not the author's: a source map lies beside it. */
  isMapped: boolean;
}

const readHead = stored('Bot', object({ membershipId: string(), codeVersion: optional(string()) }));

const readCode = stored(
  'code of a Bot',
  object({
    version: string(),
    format: picklist(['esm', 'cjs'] satisfies BotCode['format'][]),
    filename: string(),
    text: bytes,
    isMapped: exactOptional(boolean()),
  }),
);

export function botOf(item: Item | undefined): StoredBot | undefined {
  const resource = inlineResource('Bot', item);
  if (!item || !resource) return undefined;
  const { membershipId, codeVersion } = readHead(item);
  return { resource, membershipId, codeVersion };
}

/** SPEC: one item, one read. */
export const longestCodeBytes = 350 * 1024;

/** One immutable version of a Bot's code. */
export function codeItem(project: string, botId: string, code: DeployedCode): Item & { text: Uint8Array } {
  const { version, format, filename, text, isMapped } = code;
  const item = { ...keys.botCode(project, botId, version), version, format, filename };
  return { ...item, text: deflateRawSync(text), ...(isMapped ? { isMapped } : {}) };
}

export function codeOf(item: Item): DeployedCode {
  const { version, format, filename, text, isMapped = false } = readCode(item);
  return { version, format, filename, text: inflateRawSync(text).toString('utf8'), isMapped };
}
