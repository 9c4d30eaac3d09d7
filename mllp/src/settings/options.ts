import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { typedKeys } from '../../../shared/typed-keys.ts';
import { SettingsError } from './fields.ts';

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

export type Option = keyof typeof options;
export const allOptions = typedKeys(options);
export type OptionValue = string | boolean | string[] | undefined;
export type Options = Partial<Record<Option, OptionValue>>;

/**
 * The options and the files behind them, as text.
 * @throws {SettingsError} without any value, since one could be a secret
 */
export function parseOptions(args: readonly string[]): { values: Options; files: string[] } {
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
export function allowOnly(values: Options, allowed: readonly Option[]): void {
  const wrong = allOptions.find((name) => values[name] !== undefined && !allowed.includes(name));
  if (wrong !== undefined) throw new SettingsError(`--${wrong} does not belong to the other options`);
}
