import type { Context } from 'aws-lambda';
import { coreServices } from '../../shared/composition/core-services.ts';
import { type ReindexProgress, reindex } from '../../shared/store/items/reindex.ts';

const services = coreServices(process.env);

/** What is left of the invocation when the work ends, so that its progress is written. */
const reservedMs = 20_000;
/** Without a Lambda around it. */
const localMs = 30_000;

/** `{again: true}` begins anew what was finished. Invoked again and again until it says `done`. */
export function handler(event: { again?: unknown }, context?: Context): Promise<ReindexProgress> {
  const left = context ? context.getRemainingTimeInMillis() - reservedMs : localMs;
  return reindex(services, { again: event.again === true, untilMs: services.now() + left });
}
