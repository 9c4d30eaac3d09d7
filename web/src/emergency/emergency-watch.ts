import type { Portico } from '../../../client/src/index.ts';
import { saysIt } from '../idle/idle-watch.ts';

/** Whether the person has emergency access, as the service's last answer says: it may be taken or ended elsewhere. */
export interface EmergencyWatch {
  isOn(): boolean;
  /** @returns ends it */
  subscribe(listener: () => void): () => void;
  /** The same API; what its answers say of emergency access is heeded. */
  heeding(portico: Portico): Portico;
}

export function emergencyWatch(): EmergencyWatch {
  const listeners = new Set<() => void>();
  let isOn = false;
  return {
    isOn: () => isOn,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    heeding: (portico) => ({
      ...portico,
      async fetch(path, request, options) {
        const answer = await portico.fetch(path, request, options);
        const isSaid = answer.headers.has('x-emergency-seconds');
        if (saysIt.test(path) && isSaid !== isOn) {
          isOn = isSaid;
          for (const listener of listeners) listener();
        }
        return answer;
      },
    }),
  };
}
