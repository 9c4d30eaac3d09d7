import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { errorCode, typedKeys } from '../../../shared/base/values.ts';
import { Fields, SettingsError } from './fields.ts';
import { readSendSettings, readSettings, type SendSettings, type ServeSettings } from './settings.ts';

/** Where an option stands in the settings, under its own name unless `field` says another. */
interface Place {
  type: 'string' | 'boolean';
  of?: 'program' | 'listener' | 'tls' | 'send';
  field?: string;
  isNumber?: boolean;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  listen: { ...text, of: 'listener' },
  service: { ...text, of: 'program' },
  'client-id': { ...text, of: 'program', field: 'clientId' },
  'client-secret-file': { ...text, of: 'program', field: 'clientSecretFile' },
  bot: { ...text, of: 'listener' },
  allow: { ...text, of: 'listener', multiple: true },
  acknowledge: { ...text, of: 'listener' },
  timeout: { ...text, of: 'program', field: 'timeoutSeconds', isNumber: true },
  'idle-timeout': { ...text, of: 'listener', field: 'idleSeconds', isNumber: true },
  'max-connections': { ...text, of: 'listener', field: 'mostConnections', isNumber: true },
  concurrency: { ...text, of: 'program', isNumber: true },
  'peer-share': { ...text, of: 'program', field: 'peerShare', isNumber: true },
  'health-port': { ...text, of: 'program', field: 'healthPort', isNumber: true },
  'tls-cert': { ...text, of: 'tls', field: 'cert' },
  'tls-key': { ...text, of: 'tls', field: 'key' },
  'tls-ca': { ...text, of: 'tls', field: 'ca' },
  config: text,
  check: flag,
  send: { ...text, of: 'send' },
  tls: flag,
  attempts: { ...text, of: 'send', isNumber: true },
  help: flag,
  version: flag,
} as const satisfies Record<string, ParseArgsOptionsConfig[string] & Place>;

type Option = keyof typeof options;
const allOptions = typedKeys(options);
type Options = Partial<Record<Option, string | boolean | string[] | undefined>>;
const placeOf = (name: Option): Place => options[name];

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

const ofServe = allOptions.filter((name) => placeOf(name).of !== 'send' && name !== 'tls');
const ofSend = allOptions.filter(
  (name) => ['send', 'tls'].includes(placeOf(name).of ?? name) || name === 'timeout',
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
    const own = given(values, ({ of }, name) => of === 'send' || name === 'timeout');
    const sent = { ...own, ...tlsFields(values) };
    const settings = sayingOptions(() => readSendSettings(new Fields(sent), folder));
    return { kind: 'send', settings, files };
  }
  if (files.length > 0) throw new SettingsError('Files are sent with --send host:port');
  const kind = values.check ? 'check' : 'serve';
  if (values.config !== undefined) {
    allowOnly(values, ['config', 'check']);
    return { kind, settings: fromFile(resolve(folder, String(values.config))) };
  }
  allowOnly(values, ofServe);
  const listener = { ...given(values, ({ of }) => of === 'listener'), ...tlsFields(values) };
  // The same object as a file would hold.
  const said = { ...given(values, ({ of }) => of === 'program'), listeners: [listener] };
  return { kind, settings: sayingOptions(() => readSettings(new Fields(said), folder)) };
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

function tlsFields(values: Options): object {
  const files = given(values, ({ of }) => of === 'tls');
  return values.tls || Object.keys(files).length > 0 ? { tls: files } : {};
}

/** What some options say, under the names that settings have for it. */
function given(values: Options, isWanted: (place: Place, name: Option) => boolean): object {
  const wanted = allOptions.filter((name) => values[name] !== undefined && isWanted(placeOf(name), name));
  return Object.fromEntries(wanted.map((name) => [placeOf(name).field ?? name, settingOf(values, name)]));
}

/** Of a number what the schema refuses, when it is none. */
function settingOf(values: Options, name: Option): unknown {
  const value = values[name];
  if (Array.isArray(value)) return value.flatMap((list) => list.split(','));
  if (!placeOf(name).isNumber) return value;
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : Number.NaN;
}

/** An error of the schema in the words of the options: `--idle-timeout must be …`. */
function sayingOptions<Settings>(read: () => Settings): Settings {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const optionOf = (field: string) => allOptions.find((name) => placeOf(name).field === field) ?? field;
    const place = /^(?:listeners\[0\]\.)?(\w+)/;
    throw new SettingsError(error.message.replace(place, (_, field: string) => `--${optionOf(field)}`));
  }
}
