import { createHash } from 'node:crypto';
import type { BotCode } from '../../shared/bot/contract.ts';
import { type Compiler, sandboxDown } from '../../shared/bot/invoker.ts';
import type { Place, Places } from '../../shared/bot/places.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';

/** The invoker gives a compilation 10 s, and needs a moment to start. */
const compileMs = 15_000;

export interface CompiledCode {
  code: BotCode;
  /** When lines or columns are no longer the author's. */
  places: Places | undefined;
}

/**
 * An author's file as what the sandbox runs, made by the invoker: a text that traps the compiler is no matter for
 * anybody else's deploy.
 * @throws {Refusal} invalid with line and column; too-large; unavailable, not-started
 */
export async function compileCode(
  services: Pick<Services, 'now'> & { invoker: Compiler },
  { project, source, filename }: { project: string; source: string; filename: string },
): Promise<CompiledCode> {
  const deadlineAtMs = services.now() + compileMs;
  const invoked = await services.invoker.compile({
    kind: 'compile',
    project,
    filename,
    source,
    deadlineAtMs,
  });
  if (invoked.kind !== 'result') throw unchecked(invoked.kind);
  const { result } = invoked;
  if (result.kind === 'refused') {
    const { message, line, column = 1 } = result;
    throw codeRefusal(message, line === undefined ? undefined : { line, column });
  }
  const { format, text, places } = result;
  // The output too: another release of the stripper may make another text of the same source.
  const version = createHash('sha256')
    .update(JSON.stringify([filename, source, format, text]))
    .digest('hex');
  return { code: { version, format, filename, text }, places };
}

/** The invoker did not answer: nothing has been deployed, and a repeat is harmless. */
export function unchecked(reason: 'throttled' | 'not-started' | 'unknown'): Refusal {
  if (reason === 'not-started') return sandboxDown();
  return new Refusal('unavailable', 'The code could not be checked', { reason, retryAfterSeconds: 1 });
}

/** A 400 for the code, with the author's line and column where there are any. */
export function codeRefusal(message: string, place: Place | undefined): Refusal {
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`;
  return invalidField('code', `${message}${where}`);
}
