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

/**
 * Lambda's tenant isolation on a laptop: a worker does one thing at a time and serves one tenant as long as it lives.
 * None exists before it is needed; one that has nothing to do ends where another tenant needs its place.
 */
export function tenantPool<Worker>(options: TenantPoolOptions<Worker>) {
  const members = new Set<Member<Worker>>();

  function memberFor(tenantId: string): Member<Worker> {
    const own = [...members].filter((member) => member.tenantId === tenantId);
    const free = own.find(({ isBusy }) => !isBusy);
    if (free) return free;
    if (own.length >= options.mostPerTenant) throw new PoolBusy();
    if (members.size >= options.most) {
      const [oldest] = [...members].filter(({ isBusy }) => !isBusy).sort((a, b) => a.usedAtMs - b.usedAtMs);
      if (!oldest) throw new PoolBusy();
      void end(oldest);
    }
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
    /** @throws {PoolBusy} when none is free */
    async use<T>(tenantId: string, work: (worker: Worker) => Promise<T>): Promise<T> {
      const member = memberFor(tenantId);
      clearTimeout(member.ending);
      member.isBusy = true;
      try {
        return await work(member.worker);
      } finally {
        member.isBusy = false;
        member.usedAtMs = Date.now();
        member.ending = setTimeout(() => void end(member), options.idleMs).unref();
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

interface Turns<Request, Result> {
  /** @throws {PoolBusy} when no place was free and nothing has been run */
  run(request: Request): Promise<Result>;
  /** So many may wait, each so long. */
  mostWaiting: number;
  patienceMs(request: Request): number;
}

/**
 * Lets calls that find no free place wait for one, first come first served as far as each fits. Whoever
 * finds too many waiting, or waits too long, gets the error that `run` gave it.
 */
export function inTurn<Request, Result>({ run, mostWaiting, patienceMs }: Turns<Request, Result>) {
  const waiting = new Set<() => void>();
  const wakeAll = () => {
    for (const wake of waiting) wake();
  };
  const turn = async (mostMs: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, mostMs);
    waiting.add(resolve);
    await promise;
    waiting.delete(resolve);
    clearTimeout(timer);
  };
  return async (request: Request): Promise<Result> => {
    for (const untilMs = Date.now() + patienceMs(request); ; ) {
      try {
        const result = await run(request);
        wakeAll();
        return result;
      } catch (error) {
        const leftMs = untilMs - Date.now();
        const isBusy = error instanceof PoolBusy;
        // A place that was free is free again; one that was not must wake nobody.
        if (!isBusy) wakeAll();
        if (!isBusy || waiting.size >= mostWaiting || leftMs <= 0) throw error;
        await turn(leftMs);
      }
    }
  };
}
