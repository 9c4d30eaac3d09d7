import { Refusal, type RefusalIssue } from '../refusal.ts';

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

/** What is wrong with a Bot's settings as an administrator sends them. */
export function settingIssues({ timeout, memory, runAsUser }: Settings): RefusalIssue[] {
  const issues: RefusalIssue[] = [];
  if (timeout != null && !isWhole(timeout, 1, mostAsyncSeconds)) {
    issues.push({
      expression: 'timeout',
      text: `timeout is a whole number of seconds, 1 to ${mostSeconds}, for asynchronous runs to ${mostAsyncSeconds}`,
    });
  }
  if (memory != null && !isWhole(memory, leastMemoryMb, mostMemoryMb)) {
    issues.push({
      expression: 'memory',
      text: `memory is a whole number of MiB, ${leastMemoryMb} to ${mostMemoryMb}`,
    });
  }
  if (runAsUser != null && typeof runAsUser !== 'boolean') {
    issues.push({ expression: 'runAsUser', text: 'runAsUser is true or false' });
  }
  return issues;
}

/** @throws {Refusal} invalid */
export function requireSettings(bot: Settings): void {
  const issues = settingIssues(bot);
  if (issues.length > 0) throw new Refusal('invalid', 'The Bot is not valid', { issues });
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && value > 0;
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
