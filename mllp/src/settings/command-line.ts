import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../../shared/error-name.ts';
import { Fields, SettingsError } from './fields.ts';
import {
  allOptions,
  allowOnly,
  type Option,
  type Options,
  type OptionValue,
  parseOptions,
} from './options.ts';
import { readSendSettings, type SendSettings } from './send-settings.ts';
import { readSettings, type ServeSettings } from './settings.ts';

/** What the program is asked to do. */
export type Command =
  | { kind: 'serve' | 'check'; settings: ServeSettings }
  | { kind: 'send'; settings: SendSettings; files: string[] }
  | { kind: 'help' | 'version' };

const ofTls: Option[] = ['tls-cert', 'tls-key', 'tls-ca'];
const ofSend: Option[] = ['send', 'tls', ...ofTls, 'timeout', 'attempts'];
const ofServe = allOptions.filter(
  (name) => ofTls.includes(name) || !ofSend.includes(name) || name === 'timeout',
);

/**
 * Reads the program's arguments. One schema checks the file and the options.
 * @param folder that relative paths start from
 * @throws {SettingsError} naming what is wrong
 */
export function parseCommandLine(args: readonly string[], folder: string): Command {
  const { values, files } = parseOptions(args);
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  if (values.send !== undefined) {
    allowOnly(values, ofSend);
    const settings = sayingOptions(() => readSendSettings(new Fields(sendFields(values)), folder));
    return { kind: 'send', settings, files };
  }
  if (files.length > 0) throw new SettingsError('Files are sent with --send host:port');
  const kind = values.check ? 'check' : 'serve';
  if (values.config !== undefined) {
    allowOnly(values, ['config', 'check']);
    return { kind, settings: fromFile(resolve(folder, String(values.config))) };
  }
  allowOnly(values, ofServe);
  return { kind, settings: sayingOptions(() => readSettings(new Fields(serveFields(values)), folder)) };
}

function fromFile(file: string): ServeSettings {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const code = errorCode(error);
    throw new SettingsError(code ? `The settings cannot be read: ${code}` : 'The settings are not JSON');
  }
  return readSettings(new Fields(value), dirname(file));
}

/** The same object as a file would hold. */
function serveFields(values: Options): object {
  const listener = given({
    listen: values.listen,
    bot: values.bot,
    allow: Array.isArray(values.allow) ? values.allow.flatMap((list) => list.split(',')) : undefined,
    acknowledge: values.acknowledge,
    idleSeconds: numberOf(values['idle-timeout']),
    mostConnections: numberOf(values['max-connections']),
    tls: tlsFields(values),
  });
  return given({
    service: values.service,
    clientId: values['client-id'],
    clientSecretFile: values['client-secret-file'],
    timeoutSeconds: numberOf(values.timeout),
    concurrency: numberOf(values.concurrency),
    healthPort: numberOf(values['health-port']),
    listeners: [listener],
  });
}

function sendFields(values: Options): object {
  return given({
    send: values.send,
    tls: tlsFields(values) ?? (values.tls ? {} : undefined),
    timeoutSeconds: numberOf(values.timeout),
    attempts: numberOf(values.attempts),
  });
}

function tlsFields(values: Options): object | undefined {
  const files = given({ cert: values['tls-cert'], key: values['tls-key'], ca: values['tls-ca'] });
  return Object.keys(files).length > 0 ? files : undefined;
}

function given(all: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A number, or what the schema refuses. */
function numberOf(value: OptionValue): number | undefined {
  if (value === undefined) return undefined;
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : Number.NaN;
}

const optionNames: Record<string, string> = {
  clientId: 'client-id',
  clientSecretFile: 'client-secret-file',
  timeoutSeconds: 'timeout',
  healthPort: 'health-port',
  idleSeconds: 'idle-timeout',
  mostConnections: 'max-connections',
};

/** An error of the schema in the words of the options: `--idle-timeout must be …`. */
function sayingOptions<Settings>(read: () => Settings): Settings {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError(
      error.message.replace(
        /^(?:listeners\[0\]\.)?(\w+)/,
        (_, name: string) => `--${optionNames[name] ?? name}`,
      ),
    );
  }
}
