/** What the dispatcher hands on of a change in the table, each with a queue and a function of its own. */
export const dispatchedPurposes = [
  'mail',
  'index-upkeep',
  'audit',
  'subscriptions',
  'subscription-status',
  'bus',
  'exports',
] as const;

export type DispatchedPurpose = (typeof dispatchedPurposes)[number];

/** All that waits in a queue of its own. */
export const purposes = [...dispatchedPurposes, 'deliveries'] as const;

export type Purpose = (typeof purposes)[number];
