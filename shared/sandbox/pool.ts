/** Several Projects on one machine: a few children each, none ever shared. On AWS Lambda does this. */

import type { Compiled, CompileRequest, RunRequest, RunResult } from '../bot/contract.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './supervisor.ts';

export interface PoolOptions extends SandboxOptions {
  /** Children in all. */
  children: number;
  /** Children of one Project. */
  perProject: number;
  /** A child that has had nothing to do for so long is ended. */
  idleMs: number;
}

export interface Pool {
  /** As Sandbox.run; rejects with PoolBusy when every child is busy: nothing has run, a repeat is safe. */
  run: (request: RunRequest) => Promise<RunResult>;
  /** As Sandbox.compile, and busy like `run`. */
  compile: (request: CompileRequest) => Promise<Compiled>;
  close: () => Promise<void>;
}

/** Like Lambda's TooManyRequestsException. */
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
  /** Ends it when it goes on being idle. */
  ending: NodeJS.Timeout | undefined;
}

/** No child exists before its first run; an idle one of another Project is killed to make room, not reused. */
export function createPool({ children, perProject, idleMs, ...options }: PoolOptions): Pool {
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
    const sandbox = createSandbox(options);
    const member: Member = { project, sandbox, usedAtMs: Date.now(), ending: undefined };
    members.add(member);
    return member;
  }

  function makeRoom() {
    const [oldest] = [...members].filter(idle).sort((a, b) => a.usedAtMs - b.usedAtMs);
    if (!oldest) {
      throw new PoolBusy();
    }
    void end(oldest);
  }

  function end(member: Member): Promise<void> {
    clearTimeout(member.ending);
    members.delete(member);
    return member.sandbox.close();
  }

  async function use<T>(project: string, work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    const member = memberFor(project);
    clearTimeout(member.ending);
    member.usedAtMs = Date.now();
    try {
      return await work(member.sandbox);
    } finally {
      clearTimeout(member.ending);
      member.ending = setTimeout(() => idle(member) && void end(member), idleMs).unref();
    }
  }

  return {
    run: (request) => use(request.project, (sandbox) => sandbox.run(request)),
    compile: (request) => use(request.project, (sandbox) => sandbox.compile(request)),
    close: async () => {
      await Promise.all([...members].map(end));
    },
  };
}
