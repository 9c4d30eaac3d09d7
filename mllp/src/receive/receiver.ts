import type { Gate } from '../gate.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Service } from '../service/service.ts';
import type { ListenerSettings } from '../settings/settings.ts';

/** What all connections of the program share. */
export interface Receiver {
  service: Service;
  log: Log;
  metrics: Metrics;
  timeoutMs: number;
  /** Places for frames that are longer than most: they bound what all connections hold together. */
  largeFrames: Gate;
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
