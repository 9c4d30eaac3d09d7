import type { Api } from '../api/use-api.ts';
import { type Attempt, listAttempts } from './deliveries.ts';

const tries = 20;
const pauseMs = 500;

/** Waits for the first attempt of a delivery that was begun anew, for some ten seconds at most. */
export async function untilRedelivered(api: Api, subscriptionId: string, last: Attempt): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    const { attempts } = await listAttempts(api, subscriptionId, {});
    const isThere = attempts.some(
      ({ delivery, redelivery }) => delivery === last.delivery && redelivery > last.redelivery,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
