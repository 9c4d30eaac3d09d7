/** The error for an import that Bots do not have. Used inside the isolate too. */

const withoutSubstitute =
  /^(?:node:)?(?:fs|net|tls|dgram|dns|http|https|http2|child_process|worker_threads|cluster|os|process|vm|v8|inspector|repl|readline|tty|zlib|stream)(?:\/|$)/;

export function missingModule(specifier: string): string {
  return `Cannot import '${specifier.slice(0, 200)}': ${whatToDo(specifier)}`;
}

function whatToDo(specifier: string): string {
  if (/^\.{0,2}\//.test(specifier)) return 'a Bot is one file: bundle what it imports into it';
  if (withoutSubstitute.test(specifier)) {
    return 'a Bot has no files, sockets or processes; fetch is there for HTTP';
  }
  return 'it is not among the modules of a Bot (docs/bots.md): bundle it into the file';
}
