/**
 * The process that compiles one text and is killed: what its author wrote may trap the parsers for good.
 * Nothing of it is evaluated here. No environment, no credentials, no files but its own.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { init } from 'es-module-lexer';
import type { FromCompiler, ToCompiler } from '../protocol.ts';
import { compileCode } from './compile-code.ts';
import { tooDeep } from './too-deep.ts';

const [, , guestDir = ''] = process.argv;
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const modules = new Set<string>(
  Object.keys(JSON.parse(readFileSync(join(guestDir, 'exports.json'), 'utf8'))),
);

process.on('message', ({ filename, source }: ToCompiler) => {
  try {
    tell({ type: 'compiled', compiled: compileCode({ filename, source, modules }) });
  } catch {
    tell({ type: 'compiled', compiled: { kind: 'refused', message: tooDeep } });
  }
});
void init.then(() => tell({ type: 'ready' }));

function tell(message: FromCompiler): void {
  process.send?.(message);
}
