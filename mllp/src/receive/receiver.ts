import type { Gate } from '../../../shared/base/gate.ts';
import type { FeedLog, Metrics } from '../observe.ts';
import type { Service } from '../service/service.ts';
import type { ListenerSettings } from '../settings/settings.ts';

/** What all connections of the program share. */
export interface Receiver {
  service: Service;
  log: FeedLog;
  metrics: Metrics;
  timeoutMs: number;
  peerShare: number;
  /** Places for frames that are longer than most: they bound what all connections hold together. */
  largeFrames: LargeFrames;
  /** Nothing new is begun. */
  stopping: AbortSignal;
}

/** One connection, for whoever works on its messages. */
export interface Connection {
  settings: ListenerSettings;
  /** Of the listener, for log and metrics. */
  listener: string;
  peer: string;
  number: number;
  /** The other side is gone: nobody can be told anything any more. */
  gone: AbortSignal;
  /** That, or the program stops: nothing new is begun here. */
  over: AbortSignal;
  /** @returns false when it could not be delivered */
  reply(message: Buffer): Promise<boolean>;
}

/** A frame that comes on more slowly than this is given up. */
export const leastBytesPerSecond = 4 * 1024;
/** A sender may pause so long, when others wait for its place. */
const pauseMs = 2_000;
const lookEveryMs = 500;

/** A frame that has begun and not ended. */
export interface Coming {
  /** How much of it has come; undefined when it is whole, and its message is being answered. */
  bytes(): number | undefined;
  /** Ends its connection. */
  cutOff(): void;
}

/**
 * Places for frames that are longer than most: they bound what all connections hold together. While somebody waits for
 * one, a frame that has stopped coming gives up its own: who stalls inside a frame holds nobody else.
 */
export class LargeFrames {
  readonly #gate: Gate;
  readonly #held = new Map<Coming, { bytes: number; atMs: number }>();

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** @returns what gives the place back. @throws the signal's reason when it ends the waiting */
  async enter(peer: string, coming: Coming, signal: AbortSignal): Promise<() => void> {
    const timer = setInterval(() => this.#look(), lookEveryMs).unref();
    const leave = await this.#gate.enter({ owner: peer, signal }).finally(() => clearInterval(timer));
    this.#note(coming);
    return () => {
      this.#held.delete(coming);
      leave();
    };
  }

  #note(coming: Coming): void {
    this.#held.set(coming, { bytes: coming.bytes() ?? 0, atMs: performance.now() });
  }

  /** While somebody waits. */
  #look(): void {
    for (const [coming, before] of this.#held) {
      const lastedMs = performance.now() - before.atMs;
      if (lastedMs < pauseMs) continue;
      const bytes = coming.bytes();
      if (bytes !== undefined && bytes - before.bytes < (leastBytesPerSecond * lastedMs) / 1000)
        coming.cutOff();
      else this.#note(coming);
    }
  }
}
