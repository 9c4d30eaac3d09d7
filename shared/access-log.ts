import { openSync, writeSync } from 'node:fs';

/** Where each request leaves a line: who called, and what they were shown. No content, and nothing of a query. */
export interface AccessLog {
  write(line: Readonly<Record<string, unknown>>): void;
}

/** What a line is found by among the other lines of a function. */
export const accessMessage = 'access';

/** On AWS: from the log of the function, `access-records` takes the lines to a log group of their own. */
export const consoleAccessLog: AccessLog = {
  write: (line) => process.stdout.write(textOf(line)),
};

/** On a laptop: a line at the end of a file, which is opened at the first. */
export function fileAccessLog(path: string): AccessLog {
  let file: number | undefined;
  return {
    write(line) {
      file ??= openSync(path, 'a', 0o600);
      writeSync(file, textOf(line));
    },
  };
}

function textOf(line: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ message: accessMessage, ...line })}\n`;
}
