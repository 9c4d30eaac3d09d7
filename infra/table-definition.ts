/**
 * The single table as data: CDK creates it on AWS, `infra/local` on a laptop.
 * One composite key, no secondary index: whatever is looked up has an item of its own.
 */
export const tableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  billingMode: 'PAY_PER_REQUEST',
  stream: 'NEW_AND_OLD_IMAGES',
  /** Seconds since the epoch. Swept late or, on a laptop, never: readers skip what has expired. */
  ttlAttribute: 'ttl',
} as const;
