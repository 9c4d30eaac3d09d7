import { fields, flag, optionalField, parse, wholeNumber } from '../../base/schema.ts';
import { typedKeys } from '../../base/values.ts';

/** Seconds that a Bot has when it says nothing, and at most, while its caller waits. */
const defaultSeconds = 10;
const mostSeconds = 25;
/** Seconds when nobody waits: Lambda itself ends at fifteen minutes. */
const mostAsyncSeconds = 840;
const defaultMemoryMb = 128;
const mostMemoryMb = 512;
const leastMemoryMb = 16;

type Settings = Readonly<Record<string, unknown>>;

/** The limits that a Bot sets itself: `timeout` in seconds, `memory` in MiB. */
export function limitsOf(
  { timeout, memory }: Settings,
  isAsync: boolean,
): { timeoutMs: number; memoryMb: number } {
  const most = isAsync ? mostAsyncSeconds : mostSeconds;
  const seconds = isPositive(timeout) ? timeout : isAsync ? most : defaultSeconds;
  return {
    timeoutMs: Math.min(seconds, most) * 1000,
    memoryMb: isPositive(memory) ? Math.max(leastMemoryMb, Math.min(memory, mostMemoryMb)) : defaultMemoryMb,
  };
}

const timeoutText = `timeout is a whole number of seconds, 1 to ${mostSeconds}, for asynchronous runs to ${mostAsyncSeconds}`;
const memoryText = `memory is a whole number of MiB, ${leastMemoryMb} to ${mostMemoryMb}`;

/** What an author may set of a Bot's runs. */
export const settingEntries = {
  timeout: optionalField(wholeNumber(1, mostAsyncSeconds, timeoutText)),
  memory: optionalField(wholeNumber(leastMemoryMb, mostMemoryMb, memoryText)),
  runAsUser: optionalField(flag('runAsUser')),
};

/** Those of a Bot that it says. */
export function settingsOf(bot: Settings): Settings {
  return Object.fromEntries(
    typedKeys(settingEntries).flatMap((name) => (bot[name] === undefined ? [] : [[name, bot[name]]])),
  );
}

/** @throws {Refusal} invalid */
export function requireSettings(bot: Settings): void {
  parse(fields(settingEntries), bot);
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && value > 0;
}
