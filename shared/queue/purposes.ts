/** What a change in the table has to be followed by, each with a queue and a function of its own. */
export const purposes = ['mail', 'index-upkeep', 'audit'] as const;

export type Purpose = (typeof purposes)[number];
