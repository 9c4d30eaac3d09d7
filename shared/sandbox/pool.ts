/** Several Projects on one machine: a few children each, none ever shared. On AWS Lambda does this. */

import type { RunRequest, RunResult } from '../bot/contract.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './supervisor.ts';

export interface PoolOptions extends SandboxOptions {
  /** Children in all. */
  children: number;
  /** Children of one Project. */
  perProject: number;
}

export interface Pool {
  /** As Sandbox.run; rejects with PoolBusy when every child is busy: nothing has run, a repeat is safe. */
  run: (request: RunRequest) => Promise<RunResult>;
  close: () => Promise<void>;
}

/** What Lambda says with TooManyRequestsException. */
export class PoolBusy extends Error {
  constructor() {
    super('Every sandbox is busy');
    this.name = 'PoolBusy';
  }
}

interface Member {
  project: string;
  sandbox: Sandbox;
  usedAtMs: number;
}

/** No child exists before its first run; an idle one of another Project is killed to make room, not reused. */
export function createPool({ children, perProject, ...options }: PoolOptions): Pool {
  const members = new Set<Member>();
  const idle = (member: Member) => member.sandbox.pending() === 0;

  function memberFor(project: string): Member {
    const own = [...members].filter((member) => member.project === project);
    const free = own.find(idle);
    if (free) {
      return free;
    }
    if (own.length >= perProject) {
      throw new PoolBusy();
    }
    if (members.size >= children) {
      makeRoom();
    }
    const member = { project, sandbox: createSandbox(options), usedAtMs: Date.now() };
    members.add(member);
    return member;
  }

  function makeRoom() {
    const [oldest] = [...members].filter(idle).sort((a, b) => a.usedAtMs - b.usedAtMs);
    if (!oldest) {
      throw new PoolBusy();
    }
    members.delete(oldest);
    void oldest.sandbox.close();
  }

  return {
    run: async (request) => {
      const member = memberFor(request.project);
      member.usedAtMs = Date.now();
      return member.sandbox.run(request);
    },
    close: async () => {
      await Promise.all([...members].map((member) => member.sandbox.close()));
      members.clear();
    },
  };
}
