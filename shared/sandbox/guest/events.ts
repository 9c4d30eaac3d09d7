/** `DOMException`, `Event`, `EventTarget`, `AbortController` and `AbortSignal`, as far as `fetch` needs them. */

import { timerGlobals } from './timers.ts';

export class DomError extends Error {
  override readonly name: string;

  constructor(message = '', name = 'Error') {
    super(message);
    this.name = name;
  }
}

export class GuestEvent {
  readonly type: string;
  target: GuestEventTarget | undefined;

  constructor(type: string) {
    this.type = `${type}`;
  }
}

type Listener = ((event: GuestEvent) => void) | { handleEvent(event: GuestEvent): void };

export class GuestEventTarget {
  private readonly listeners: { type: string; listener: Listener; once: boolean }[] = [];

  addEventListener(type: string, listener: Listener, options?: boolean | { once?: boolean }): void {
    const once = typeof options === 'object' && Boolean(options?.once);
    if (!this.listeners.some((known) => known.type === type && known.listener === listener)) {
      this.listeners.push({ type, listener, once });
    }
  }

  removeEventListener(type: string, listener: Listener): void {
    const index = this.listeners.findIndex((known) => known.type === type && known.listener === listener);
    if (index >= 0) {
      this.listeners.splice(index, 1);
    }
  }

  dispatchEvent(event: GuestEvent): boolean {
    event.target = this;
    for (const known of this.listeners.filter((one) => one.type === event.type)) {
      if (known.once) {
        this.removeEventListener(known.type, known.listener);
      }
      if (typeof known.listener === 'function') {
        known.listener.call(this, event);
      } else {
        known.listener.handleEvent(event);
      }
    }
    return true;
  }
}

export class GuestAbortSignal extends GuestEventTarget {
  aborted = false;
  reason: unknown;
  onabort: ((event: GuestEvent) => void) | null = null;

  static abort(reason?: unknown): GuestAbortSignal {
    const controller = new GuestAbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(ms: number): GuestAbortSignal {
    const controller = new GuestAbortController();
    const timedOut = new DomError('The operation was aborted due to timeout', 'TimeoutError');
    timerGlobals.setTimeout(() => controller.abort(timedOut), ms);
    return controller.signal;
  }

  static any(signals: Iterable<GuestAbortSignal>): GuestAbortSignal {
    const controller = new GuestAbortController();
    for (const signal of signals) {
      if (signal.aborted) {
        controller.abort(signal.reason);
      } else {
        signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
      }
    }
    return controller.signal;
  }

  throwIfAborted(): void {
    if (this.aborted) {
      throw this.reason;
    }
  }
}

export class GuestAbortController {
  readonly signal = new GuestAbortSignal();

  abort(reason?: unknown): void {
    if (this.signal.aborted) {
      return;
    }
    this.signal.aborted = true;
    this.signal.reason = reason ?? new DomError('This operation was aborted', 'AbortError');
    const event = new GuestEvent('abort');
    this.signal.onabort?.(event);
    this.signal.dispatchEvent(event);
  }
}
