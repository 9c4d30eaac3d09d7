import { PoolBusy } from '../../../shared/sandbox/pool.ts';
import type { Environment } from './environment.ts';

interface EnvironmentPoolOptions {
  start(): Environment;
  /** In all, and of one tenant. */
  most: number;
  mostPerTenant: number;
}

interface Member {
  tenantId: string;
  environment: Environment;
  isBusy: boolean;
  usedAtMs: number;
}

export interface EnvironmentPool {
  /** @throws {PoolBusy} when none is free: nothing has run */
  invoke(event: unknown, tenantId: string): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Lambda's tenant isolation on a laptop: an environment has one invocation at a time and serves one tenant as long as
 * it lives. One that has nothing to do ends where another tenant needs its place.
 */
export function environmentPool({ start, most, mostPerTenant }: EnvironmentPoolOptions): EnvironmentPool {
  const members = new Set<Member>();

  function memberFor(tenantId: string): Member {
    const own = [...members].filter((member) => member.tenantId === tenantId);
    const free = own.find(({ isBusy }) => !isBusy);
    if (free) return free;
    if (own.length >= mostPerTenant) throw new PoolBusy();
    if (members.size >= most) makeRoom();
    const member: Member = { tenantId, environment: start(), isBusy: false, usedAtMs: Date.now() };
    members.add(member);
    return member;
  }

  function makeRoom(): void {
    const [oldest] = [...members].filter(({ isBusy }) => !isBusy).sort((a, b) => a.usedAtMs - b.usedAtMs);
    if (!oldest) throw new PoolBusy();
    members.delete(oldest);
    void oldest.environment.stop();
  }

  return {
    async invoke(event, tenantId) {
      const member = memberFor(tenantId);
      member.isBusy = true;
      try {
        return await member.environment.invoke(event, tenantId);
      } finally {
        member.isBusy = false;
        member.usedAtMs = Date.now();
      }
    },
    async stop() {
      await Promise.all([...members].map(({ environment }) => environment.stop()));
    },
  };
}
