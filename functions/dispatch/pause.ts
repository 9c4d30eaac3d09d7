/**
 * So long the dispatcher waits before it answers that records have to be given again because a queue or the table
 * did not answer: retries are counted, and an outage must not use them up. Seconds.
 */
export const pauseSeconds = 10;
