import { fileURLToPath } from 'node:url';
import type { RunRequest, RunResult } from '../../shared/bot/contract.ts';
import { type Deflated, packResult, unpackRun } from '../../shared/bot/payload.ts';
import { createSandbox } from '../../shared/sandbox/supervisor.ts';

/** The bundle lies beside the folder that the child runs from; a laptop says where it has built it. */
const guestDir = process.env.PORTICO_GUEST_DIR ?? fileURLToPath(new URL('./guest', import.meta.url));

/** Forked while Lambda still loads: the first run waits the less. */
const sandbox = createSandbox({ guestDir });

/** What of Lambda's context we look at: the tenant that this environment belongs to. */
interface TenantContext {
  tenantId?: string;
}

/**
 * Runs one Bot. Whatever the Bot does is in the result; an error here is ours: a payload that is none,
 * a tenant that is not the run's Project, a child that cannot start.
 */
export async function handler(
  event: RunRequest | Deflated,
  context?: TenantContext,
): Promise<RunResult | Deflated> {
  const request = unpackRun(event);
  if (context?.tenantId !== undefined && context.tenantId !== request.project) {
    throw new Error('The run belongs to another tenant');
  }
  return packResult(await sandbox.run(request));
}
