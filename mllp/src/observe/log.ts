type Level = 'info' | 'warn' | 'error' | 'alarm';

/** What a line may hold: names, numbers, times. Never a part of a message but its MSH-10. */
type Fields = Record<string, string | number | boolean | undefined>;

/** `alarm`: somebody has to look at this one message. */
export type Log = (level: Level, event: string, fields?: Fields) => void;

/** MSH-10 holds 199 characters (HL7 v2.7). */
const longestText = 200;

/** One JSON object a line; control characters are escaped, long texts cut. */
export function jsonLog(write: (line: string) => void, now: () => Date = () => new Date()): Log {
  return (level, event, fields = {}) => {
    const cut = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, longestText) : value,
    ]);
    const entry = { time: now().toISOString(), level, event, ...Object.fromEntries(cut) };
    write(`${JSON.stringify(entry)}\n`);
  };
}
