import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Resource } from '../fhir/resource.ts';
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

export function botOf(item: Item | undefined): StoredBot | undefined {
  const resource = inlineResource('Bot', item);
  if (!item || !resource) return undefined;
  return {
    resource,
    membershipId: String(item.membershipId),
    codeVersion: item.codeVersion as string | undefined,
  };
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
  return {
    version: item.version as string,
    format: item.format as BotCode['format'],
    filename: item.filename as string,
    text: inflateRawSync(item.text as Uint8Array).toString('utf8'),
    isMapped: item.isMapped === true,
  };
}
