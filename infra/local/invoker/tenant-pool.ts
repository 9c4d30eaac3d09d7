import { Gate } from '../../../shared/base/gate.ts';
import type { CompileRequest, RunRequest } from '../../../shared/bots/run/contract.ts';

interface TenantPoolOptions<Worker> {
  start(): Worker;
  end(worker: Worker): Promise<unknown>;
  /** In all, and of one tenant. */
  most: number;
  mostPerTenant: number;
  /** One that has had nothing to do for so long is ended. */
  idleMs: number;
}

interface Member<Worker> {
  tenantId: string;
  worker: Worker;
  isBusy: boolean;
  usedAtMs: number;
  /** Ends it when it goes on being idle. */
  ending?: NodeJS.Timeout;
}

/** Lambda's name for it: nothing has run, a repeat is safe. */
export class PoolBusy extends Error {
  override readonly name = 'TooManyRequestsException';
  override readonly message = 'Every sandbox is busy';
}

/** A place of a tenant's, waited for in turn. @throws {PoolBusy} when none comes free in time */
export function placeIn(gate: Gate, tenantId: string, patienceMs: number): Promise<() => void> {
  const signal = AbortSignal.timeout(Math.max(0, patienceMs));
  return gate.enter({ owner: tenantId, signal }).catch(() => {
    throw new PoolBusy();
  });
}

/**
 * Lambda's tenant isolation on a laptop: a worker does one thing at a time and serves one tenant as long as it lives.
 * None exists before it is needed; one that has nothing to do ends where another tenant needs its place.
 */
export function tenantPool<Worker>(options: TenantPoolOptions<Worker>) {
  const gate = new Gate(options.most, options.mostPerTenant);
  const members = new Set<Member<Worker>>();

  /** For one who has a place: so there is a free worker of the tenant's, or room for another. */
  function memberFor(tenantId: string): Member<Worker> {
    const idle = [...members].filter(({ isBusy }) => !isBusy).sort((a, b) => a.usedAtMs - b.usedAtMs);
    const own = idle.find((member) => member.tenantId === tenantId);
    if (own) return own;
    if (members.size >= options.most && idle[0]) void end(idle[0]);
    const member = { tenantId, worker: options.start(), isBusy: false, usedAtMs: Date.now() };
    members.add(member);
    return member;
  }

  function end(member: Member<Worker>): Promise<unknown> {
    clearTimeout(member.ending);
    members.delete(member);
    return options.end(member.worker);
  }

  return {
    /** @throws {PoolBusy} when none is free in time: nothing has run */
    async use<T>(tenantId: string, patienceMs: number, work: (worker: Worker) => Promise<T>): Promise<T> {
      const leave = await placeIn(gate, tenantId, patienceMs);
      const member = memberFor(tenantId);
      clearTimeout(member.ending);
      member.isBusy = true;
      try {
        return await work(member.worker);
      } finally {
        member.isBusy = false;
        member.usedAtMs = Date.now();
        member.ending = setTimeout(() => void end(member), options.idleMs).unref();
        leave();
      }
    },
    async stop() {
      await Promise.all([...members].map(end));
    },
  };
}

/** Long enough for runs that end soon. */
const runPatienceMs = 5_000;
/** What a usual file needs to be compiled, on a busy machine. */
const compileNeedsMs = 4_000;

/** How long a call of the invoker may wait: of a deploy as long as there is time left for what it asks. */
export function patienceOfCall(request: RunRequest | CompileRequest): number {
  if (request.kind === 'run') return runPatienceMs;
  const needsMs = request.kind === 'compile' ? compileNeedsMs : request.limits.timeoutMs;
  return request.deadlineAtMs - needsMs - Date.now();
}
