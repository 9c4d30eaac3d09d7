import { type HostAndPort, parseAddress } from './address.ts';
import type { Fields } from './fields.ts';
import { readTls, type TlsFiles } from './settings.ts';

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
