/** One structured line per entry. Never personal data: ids, kinds, counts and times only. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export const consoleLog: Log = {
  info: (message, fields) => write('INFO', message, fields),
  error: (message, fields) => write('ERROR', message, fields),
};

function write(level: string, message: string, fields: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
}
