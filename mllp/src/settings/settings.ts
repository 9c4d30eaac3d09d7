import { resolve } from 'node:path';
import type { Identifier } from '../../../client/src/create-portico.ts';
import { recordOf } from '../../../shared/base/values.ts';
import { allowList, type Fields, isLoopback, parseAddress, SettingsError, type TlsFiles } from './fields.ts';

export type ListenerSettings = ReturnType<typeof readListener>;
export type ServeSettings = ReturnType<typeof readSettings>;
export type SendSettings = ReturnType<typeof readSendSettings>;

const dayInSeconds = 86_400;

/**
 * Checks the settings of the program that receives, as they stand in its file.
 * @param folder that relative paths start from
 * @throws {SettingsError} naming the field
 */
export function readSettings(fields: Fields, folder: string) {
  const settings = {
    service: fields.read('service', () => parseService(fields.requiredText('service'))),
    clientId: fields.requiredText('clientId'),
    /** Else the secret is in the environment. */
    clientSecretFile: pathOf(fields.text('clientSecretFile'), folder),
    /** From the end of a message to its acknowledgement at the latest. */
    timeoutMs: 1000 * (fields.number('timeoutSeconds', 1, 300) ?? 30),
    /** Requests to the service at once. */
    concurrency: fields.number('concurrency', 1, 1000) ?? 16,
    /** What one peer may have of all places, in hundredths: connections, large messages, requests. */
    peerShare: fields.number('peerShare', 1, 100) ?? 75,
    healthPort: fields.number('healthPort', 0, 65_535),
    listeners: (fields.objects('listeners') ?? []).map((listener) => readListener(listener, folder)),
  };
  fields.end();
  if (settings.listeners.length === 0) throw new SettingsError('listeners is missing');
  requireApart(settings.listeners);
  return settings;
}

function readListener(fields: Fields, folder: string) {
  const address = fields.read('listen', () => parseAddress(fields.requiredText('listen')));
  const allow = fields.texts('allow');
  const tls = readTls(fields, folder);
  if (tls && (!tls.cert || !tls.key)) throw fields.wrong('tls', 'needs cert and key');
  const acknowledge = fields.text('acknowledge') ?? 'as-asked';
  if (acknowledge !== 'as-asked' && acknowledge !== 'original') {
    throw fields.wrong('acknowledge', 'must be as-asked or original');
  }
  const listener = {
    address,
    bot: fields.read('bot', () => parseBot(fields.requiredText('bot'))),
    /** Who may connect; undefined: everybody who can reach it. */
    allows: allow && fields.read('allow', () => allowList(allow)),
    tls,
    /** `original`: MSH-15 and MSH-16 are not looked at. */
    acknowledge,
    /** Without a byte between frames for this long, a connection is closed. */
    idleMs: 1000 * (fields.number('idleSeconds', 1, dayInSeconds) ?? 3600),
    mostConnections: fields.number('mostConnections', 1, 10_000) ?? 256,
  } as const;
  fields.end();
  // MLLP knows no passwords: whoever reaches an open port runs the Bot.
  if (!isLoopback(address.host) && !allow && !tls?.ca) {
    throw fields.wrong('listen', 'is reachable from elsewhere: it needs allow, or tls with ca');
  }
  return listener;
}

function readTls(fields: Fields, folder: string): TlsFiles | undefined {
  const tls = fields.object('tls');
  const files = tls && recordOf(['cert', 'key', 'ca'], (name) => pathOf(tls.text(name), folder));
  tls?.end();
  return files;
}

/** How many of so many places one peer may have. */
export function shareOf(places: number, peerShare: number): number {
  return Math.ceil((places * peerShare) / 100);
}

function parseBot(text: string): string | Identifier {
  const bar = text.indexOf('|');
  if (bar < 0) return text;
  if (bar === text.length - 1) throw new Error('must be an id or system|value');
  return { system: text.slice(0, bar), value: text.slice(bar + 1) };
}

function parseService(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.search || url.hash) {
    throw new Error('must be an https address');
  }
  return url.href;
}

function pathOf(text: string | undefined, folder: string): string | undefined {
  return text === undefined ? undefined : resolve(folder, text);
}

function requireApart(listeners: readonly ListenerSettings[]): void {
  const seen = new Set<string>();
  for (const { address } of listeners) {
    const name = `${address.host}:${address.port}`;
    if (address.port !== 0 && seen.has(name)) throw new SettingsError(`Two listeners have ${name}`);
    seen.add(name);
  }
}

/** @throws {SettingsError} naming the field */
export function readSendSettings(fields: Fields, folder: string) {
  const settings = {
    to: fields.read('send', () => parseAddress(fields.requiredText('send'))),
    /** Undefined: in the clear. */
    tls: readTls(fields, folder),
    /** For the connection, and for each acknowledgement. */
    timeoutMs: 1000 * (fields.number('timeoutSeconds', 1, 3600) ?? 30),
    /** Of one message, in all. */
    attempts: fields.number('attempts', 1, 1000) ?? 5,
  };
  fields.end();
  return settings;
}
