import { resolve } from 'node:path';
import type { Identifier } from '../../../client/src/create-portico.ts';
import {
  type AllowList,
  allowList,
  type Fields,
  type HostAndPort,
  isLoopback,
  parseAddress,
  SettingsError,
  type TlsFiles,
} from './fields.ts';

export interface ListenerSettings {
  address: HostAndPort;
  bot: string | Identifier;
  /** Who may connect; undefined: everybody who can reach it. */
  allows: AllowList | undefined;
  tls: TlsFiles | undefined;
  /** `original`: MSH-15 and MSH-16 are not looked at. */
  acknowledge: 'as-asked' | 'original';
  /** Without a byte between frames for this long, a connection is closed. */
  idleMs: number;
  mostConnections: number;
}

export interface ServeSettings {
  service: string;
  clientId: string;
  /** Else the secret is in the environment. */
  clientSecretFile: string | undefined;
  /** From the end of a message to its acknowledgement at the latest. */
  timeoutMs: number;
  /** Requests to the service at once. */
  concurrency: number;
  /** What one peer may have of all places, in hundredths: connections, large messages, requests. */
  peerShare: number;
  healthPort: number | undefined;
  listeners: ListenerSettings[];
}

const dayInSeconds = 86_400;

/**
 * Checks the settings of the program that receives, as they stand in its file.
 * @param folder that relative paths start from
 * @throws {SettingsError} naming the field
 */
export function readSettings(fields: Fields, folder: string): ServeSettings {
  const settings = {
    service: fields.read('service', () => parseService(fields.requiredText('service'))),
    clientId: fields.requiredText('clientId'),
    clientSecretFile: pathOf(fields.text('clientSecretFile'), folder),
    timeoutMs: 1000 * (fields.number('timeoutSeconds', 1, 300) ?? 30),
    concurrency: fields.number('concurrency', 1, 1000) ?? 16,
    peerShare: fields.number('peerShare', 1, 100) ?? 75,
    healthPort: fields.number('healthPort', 0, 65_535),
    listeners: (fields.objects('listeners') ?? []).map((listener) => readListener(listener, folder)),
  };
  fields.end();
  if (settings.listeners.length === 0) throw new SettingsError('listeners is missing');
  requireApart(settings.listeners);
  return settings;
}

function readListener(fields: Fields, folder: string): ListenerSettings {
  const address = fields.read('listen', () => parseAddress(fields.requiredText('listen')));
  const allow = fields.texts('allow');
  const tls = fields.object('tls');
  const files = tls && readTls(tls, folder);
  if (files && (!files.cert || !files.key)) throw fields.wrong('tls', 'needs cert and key');
  const acknowledge = fields.text('acknowledge') ?? 'as-asked';
  if (acknowledge !== 'as-asked' && acknowledge !== 'original') {
    throw fields.wrong('acknowledge', 'must be as-asked or original');
  }
  const listener: ListenerSettings = {
    address,
    bot: fields.read('bot', () => parseBot(fields.requiredText('bot'))),
    allows: allow && fields.read('allow', () => allowList(allow)),
    tls: files,
    acknowledge,
    idleMs: 1000 * (fields.number('idleSeconds', 1, dayInSeconds) ?? 3600),
    mostConnections: fields.number('mostConnections', 1, 10_000) ?? 256,
  };
  fields.end();
  // MLLP knows no passwords: whoever reaches an open port runs the Bot.
  if (!isLoopback(address.host) && !listener.allows && !files?.ca) {
    throw fields.wrong('listen', 'is reachable from elsewhere: it needs allow, or tls with ca');
  }
  return listener;
}

function readTls(fields: Fields, folder: string): TlsFiles {
  const files = {
    cert: pathOf(fields.text('cert'), folder),
    key: pathOf(fields.text('key'), folder),
    ca: pathOf(fields.text('ca'), folder),
  };
  fields.end();
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

export interface SendSettings {
  to: HostAndPort;
  /** Undefined: in the clear. */
  tls: TlsFiles | undefined;
  /** For the connection, and for each acknowledgement. */
  timeoutMs: number;
  /** Of one message, in all. */
  attempts: number;
}

/** @throws {SettingsError} naming the field */
export function readSendSettings(fields: Fields, folder: string): SendSettings {
  const tls = fields.object('tls');
  const settings = {
    to: fields.read('send', () => parseAddress(fields.requiredText('send'))),
    tls: tls && readTls(tls, folder),
    timeoutMs: 1000 * (fields.number('timeoutSeconds', 1, 3600) ?? 30),
    attempts: fields.number('attempts', 1, 1000) ?? 5,
  };
  fields.end();
  return settings;
}
