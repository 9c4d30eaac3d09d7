import { fileURLToPath } from 'node:url';
import type { Compiled, CompileRequest, RunRequest, RunResult } from '../../shared/bots/run/contract.ts';
import { type Deflated, pack, unpack } from '../../shared/bots/run/payload.ts';
import { SandboxNotStarted } from '../../shared/bots/sandbox/child-process.ts';
import { createSandbox } from '../../shared/bots/sandbox/supervisor.ts';

/** The bundle lies beside the folder that the child runs from; a laptop says where it has built it. */
const guestDir = process.env.PORTICO_GUEST_DIR ?? fileURLToPath(new URL('./guest', import.meta.url));

/** Forked while Lambda is still loading, so that the first run waits less. */
const sandbox = createSandbox({ guestDir });

/** The part of Lambda's context that is used: the tenant that this environment belongs to. */
interface TenantContext {
  tenantId?: string;
}

/**
 * Compiles a Bot's code or runs it. Whatever author and Bot do is in the result; an error here is ours: a payload
 * that is none, a tenant that is not the request's Project, a process that cannot start.
 */
export async function handler(
  event: RunRequest | CompileRequest | Deflated,
  context?: TenantContext,
): Promise<RunResult | Compiled | Deflated> {
  const request = unpack(event);
  if (context?.tenantId !== undefined && context.tenantId !== request.project) {
    throw new Error('The run belongs to another tenant');
  }
  try {
    return pack(request.kind === 'compile' ? await sandbox.compile(request) : await sandbox.run(request));
  } catch (error) {
    if (error instanceof SandboxNotStarted) logNotStarted(error);
    throw error;
  }
}

/** An alarm looks for this message: infra/constructs/alarms.ts. */
function logNotStarted({ words }: SandboxNotStarted): void {
  process.stdout.write(`${JSON.stringify({ level: 'ERROR', message: 'sandbox not started', words })}\n`);
}
