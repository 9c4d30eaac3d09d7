const certificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/x';
const domain = { name: 'api.example.org', certificateArn };
const edge = 'arn:aws:acm:us-east-1:111122223333:certificate/e';
const restored = 'arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/2026-01-31T12:00:00.000';

/** A public key whose private one nobody has. */
const sourceKey = [
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAj4oGoHiaRSE3nL657h6dHjEOkkXC2uaUGiEPyE+a51Fualq5HVzg50',
  'brLZx1YI7UcytPwrHyEAB/Jp60JLkb9hL0IymDFB2bthKcywxWcPeF2r/mItdq2CBGwiVCTcwKwi/pSvgVbP0SSwc4J7C7DbPs',
  'ZRp6L1GCtE9Eebg1TNOj/fkvx6Fa3FUgCAaHQzCtFum0y/oV8vy/RDQ2OsY0VtjJjrdBCxbbOAQ5ZAxoApC6XisUMP1I8ZSdas',
  'iZqDdUHh2wGacMK9B9c8XrBHktCNUpegW3yOaAWOiSZpM5DRd12OCdta9T/aG6J0OJDUt5DbXs3OtuT9mjmRXUUPz+EQIDAQAB',
].join('');

/** The settings of stages whose templates tests look at, made together: to load the CDK takes longer than them all. */
export const stages = {
  plain: {},
  large: {
    ...{ accountConcurrency: 1000, projectRuns: 75, projectShare: 40 },
    ...{ tracing: true, metrics: false, domain },
  },
  /** The smallest account that shares its concurrency. */
  shared: { accountConcurrency: 400 },
  passing: { removalPolicy: 'destroy', retention: 'hipaa' },
  backedUp: { backup: { keepDays: 400 }, deletionProtection: false },
  mailSandbox: { mailSandbox: true },
  foreign: { allowedOrigins: ['https://app.example.org'] },
  /** Behind what proves the source of a request. */
  named: {
    ...{ domain, trustedHops: 1 },
    sourceKey,
  },
  filtered: {
    ...{ domain, egress: { hosts: ['hooks.example.com'] } },
    firewall: { certificateArn: edge },
  },
  /** What may be set when a stage is there already. */
  later: {
    ...{ domain, restoredTable: restored, backup: { keepDays: 35 }, alarmEmail: 'ops@example.org' },
    ...{ signingKeys: [2, 1], egress: { hosts: ['hooks.example.com'] } },
    firewall: { certificateArn: edge, secrets: [2, 1] },
  },
} as const;
export type StageName = keyof typeof stages;
