import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { errorCode, typedKeys } from '../../../shared/base/values.ts';
import { Fields, SettingsError } from './fields.ts';
import { readSendSettings, readSettings, type SendSettings, type ServeSettings } from './settings.ts';

const options = {
  listen: { type: 'string' },
  service: { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret-file': { type: 'string' },
  bot: { type: 'string' },
  allow: { type: 'string', multiple: true },
  acknowledge: { type: 'string' },
  timeout: { type: 'string' },
  'idle-timeout': { type: 'string' },
  'max-connections': { type: 'string' },
  concurrency: { type: 'string' },
  'peer-share': { type: 'string' },
  'health-port': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'tls-ca': { type: 'string' },
  config: { type: 'string' },
  check: { type: 'boolean' },
  send: { type: 'string' },
  tls: { type: 'boolean' },
  attempts: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig;

type Option = keyof typeof options;
const allOptions = typedKeys(options);
type OptionValue = string | boolean | string[] | undefined;
type Options = Partial<Record<Option, OptionValue>>;

/**
 * The options and the files behind them, as text.
 * @throws {SettingsError} without any value, since one could be a secret
 */
function parseOptions(args: readonly string[]): { values: Options; files: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values, files: positionals };
  } catch {
    const named = args.flatMap((arg) => /^--([^=]+)/.exec(arg)?.[1] ?? []);
    const unknown = named.find((name) => !Object.hasOwn(options, name));
    const hint = unknown === 'client-secret' ? ': use PORTICO_CLIENT_SECRET or --client-secret-file' : '';
    throw new SettingsError(
      unknown === undefined ? 'An option has no value, or one too many' : `--${unknown} is no option${hint}`,
    );
  }
}

/** @throws {SettingsError} for an option that says nothing beside the others */
function allowOnly(values: Options, allowed: readonly Option[]): void {
  const wrong = allOptions.find((name) => values[name] !== undefined && !allowed.includes(name));
  if (wrong !== undefined) throw new SettingsError(`--${wrong} does not belong to the other options`);
}

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
    peerShare: numberOf(values['peer-share']),
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
  peerShare: 'peer-share',
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
