/** Errors of an isolate that its Bot did not catch, with texts that may be shown. */

/** A name for V8 that cannot be mistaken for one of ours and holds no path of the author's machine. */
export function safeFilename(filename: string): string {
  const name = filename
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/[^\w.-]/g, '_')
    .slice(0, 100);
  return name || 'bot.js';
}

export interface BotError {
  name: string;
  message: string;
  stack: string;
}

/** The error's stack goes on with the host's own frames: only those of the Bot's file may leave. */
export function readError(error: unknown, filename: string): BotError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: typeof error === 'string' ? error : String(error), stack: '' };
  }
  const lines = `${error.stack}`.split('\n').filter((line) => isFrameOf(line, filename));
  const stack = lines.map((line) => line.slice(4)).slice(0, 20);
  return { name: error.name, message: error.message, stack: stack.join('\n') };
}

function isFrameOf(line: string, filename: string): boolean {
  return line.startsWith('    at ') && line.includes(`${filename}:`);
}
