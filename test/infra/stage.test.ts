import { describe, expect, it } from '@jest/globals';
import { projectContext } from '../../infra/context.ts';
import { readStage } from '../../infra/stage.ts';

const least = { region: 'eu-west-1', mailFrom: 'portico@example.org' };

const domain = {
  name: 'api.example.org',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/c',
};

const edge = 'arn:aws:acm:us-east-1:123456789012:certificate/e';

function stageOf(fields: unknown, name: unknown = 'prod') {
  const context: Record<string, unknown> = { stage: name, stages: { prod: fields } };
  return readStage((key) => context[key]);
}

describe('a stage', () => {
  it('is the one that cdk.json names', () => {
    const context = projectContext();
    expect(readStage((key) => context[key]).name).toBe(context.stage);
  });

  it.each(['dev', 'prod'])('%s is one of cdk.json', (name) => {
    const context: Record<string, unknown> = { ...projectContext(), stage: name };
    expect(readStage((key) => context[key])).toMatchObject({ name, mailSandbox: name === 'dev' });
  });

  it('keeps its data and lets no browser in unless it says so', () => {
    expect(stageOf(least)).toEqual({
      ...{
        name: 'prod',
        ...least,
        mailSandbox: false,
        trustedHops: 0,
        failedAddresses: 20,
        accountConcurrency: 10,
        metrics: true,
        tracing: false,
        allowedOrigins: [],
        searchParameters: [],
        removalPolicy: 'retain',
        deletionProtection: true,
        signingKeys: [1],
        retention: { functions: 90, access: 365 },
      },
    });
  });

  it('lets invokers out to the API and to the hosts that it names', () => {
    const hosts = ['hooks.example.com', '*.example.net', 'api.example.org'];
    expect(stageOf({ ...least, domain, egress: { hosts } }).egress).toEqual({
      hosts: ['api.example.org', 'hooks.example.com', '*.example.net'],
    });
  });

  it('trusts the hop of its own front as long as nobody comes round it', () => {
    const firewall = { certificateArn: edge, uncounted: ['198.51.100.7/32', '203.0.113.0/24'] };
    const enforced = stageOf({ ...least, domain, firewall });
    expect(enforced.trustedHops).toBe(1);
    expect(enforced.firewall).toEqual({
      ...firewall,
      ...{ requestsPerFiveMinutes: 10_000, secrets: [1], enforced: true },
    });
    expect(stageOf({ ...least, domain, firewall: { ...firewall, enforced: false } }).trustedHops).toBe(0);
    const own = { name: domain.name, certificateArn: edge };
    expect(stageOf({ ...least, domain: own, firewall: {} }).firewall?.certificateArn).toBe(edge);
  });

  it('keeps logs for a preset’s days, or for days of its own', () => {
    expect(stageOf({ ...least, retention: 'hipaa' }).retention).toEqual({ functions: 365, access: 2192 });
    expect(stageOf({ ...least, retention: { access: 731 } }).retention).toEqual({
      functions: 90,
      access: 731,
    });
  });

  it.each([
    ['no region', { mailFrom: least.mailFrom }, 'prod.region is missing'],
    ['a region that is none', { ...least, region: 'Ireland' }, 'prod.region is malformed'],
    ['a sender with a name', { ...least, mailFrom: 'P <p@example.org>' }, 'prod.mailFrom is malformed'],
    ['any origin', { ...least, allowedOrigins: ['*'] }, 'prod.allowedOrigins is malformed'],
    [
      'an origin with a path',
      { ...least, allowedOrigins: ['https://a.example/x'] },
      'prod.allowedOrigins is malformed',
    ],
    ['a sandbox that is a word', { ...least, mailSandbox: 'yes' }, 'prod.mailSandbox is malformed'],
    ['a set that there is not', { ...least, searchParameters: ['r5'] }, 'prod.searchParameters is malformed'],
    [
      'a concurrency that is no count',
      { ...least, accountConcurrency: 'all' },
      'prod.accountConcurrency is malformed',
    ],
    ['runs that are no count', { ...least, projectRuns: 0 }, 'prod.projectRuns is malformed'],
    ['tracing that is a word', { ...least, tracing: 'on' }, 'prod.tracing is malformed'],
    ['a share of more than all', { ...least, projectShare: 101 }, 'prod.projectShare is malformed'],
    ['no failed addresses at all', { ...least, failedAddresses: 0 }, 'prod.failedAddresses is malformed'],
    ['hops that are no count', { ...least, trustedHops: '1' }, 'prod.trustedHops is malformed'],
    ['a table without its stream', { ...least, restoredTable: 'portico' }, 'prod.restoredTable is malformed'],
    ['no key that signs', { ...least, signingKeys: [] }, 'prod.signingKeys is malformed'],
    ['a key twice', { ...least, signingKeys: [1, 1] }, 'prod.signingKeys is malformed'],
    ['a backup for no days', { ...least, backup: { keepDays: 0 } }, 'prod.backup is malformed'],
    ['an alarm address that is none', { ...least, alarmEmail: 'me' }, 'prod.alarmEmail is malformed'],
    [
      'a domain without certificate',
      { ...least, domain: { name: 'a.example' } },
      'prod.domain.certificateArn is missing',
    ],
    ['hosts that are no list', { ...least, domain, egress: {} }, 'prod.egress is malformed'],
    [
      'a host with a port',
      { ...least, domain, egress: { hosts: ['a.example:8443'] } },
      'prod.egress.hosts names "a.example:8443"',
    ],
    [
      'an address as a host',
      { ...least, domain, egress: { hosts: ['10.0.0.1'] } },
      'prod.egress.hosts names',
    ],
    ['a filter without a domain', { ...least, egress: { hosts: [] } }, 'prod.egress needs a domain'],
    ['a firewall without a domain', { ...least, firewall: {} }, 'prod.firewall needs a domain'],
    ['a firewall that is a word', { ...least, domain, firewall: true }, 'prod.firewall is malformed'],
    [
      'a certificate of another region',
      { ...least, domain, firewall: {} },
      'prod.firewall.certificateArn is malformed: the ARN of a certificate in us-east-1',
    ],
    ...Object.entries({
      requestsPerFiveMinutes: 10,
      uncounted: ['198.51.100.7'],
      secrets: [1, 1],
      enforced: 'no',
    }).map(([name, value]): [string, object, string] => [
      `a firewall with ${name} ${JSON.stringify(value)}`,
      { ...least, domain, firewall: { certificateArn: edge, [name]: value } },
      `prod.firewall.${name} is malformed`,
    ]),
    [
      'a firewall with rate 1',
      { ...least, domain, firewall: { certificateArn: edge, rate: 1 } },
      'no setting prod.firewall.rate',
    ],
    ['a preset that there is not', { ...least, retention: 'gdpr' }, 'prod.retention is malformed'],
    [
      'days that CloudWatch has not',
      { ...least, retention: { access: 2190 } },
      'prod.retention is malformed',
    ],
    ['logs of no kind', { ...least, retention: { audit: 365 } }, 'prod.retention is malformed'],
    ['a key that is none', { ...least, sourceKey: 'AAAA' }, 'prod.sourceKey is no RSA public key'],
    ['a setting that there is not', { ...least, retentions: 'hipaa' }, 'no setting prod.retentions'],
    [
      'a setting of a domain that there is not',
      { ...least, domain: { ...domain, aliases: [] } },
      'no setting prod.domain.aliases',
    ],
    [
      'an origin that is in no list',
      { ...least, allowedOrigins: 'https://app.example.org' },
      'prod.allowedOrigins is malformed: a list',
    ],
    ['an unknown removal policy', { ...least, removalPolicy: 'Destroy' }, 'prod.removalPolicy is malformed'],
  ])('refuses %s', (_, fields, message) => {
    expect(() => stageOf(fields)).toThrow(message);
  });

  it('refuses a name that cdk.json does not have', () => {
    expect(() => stageOf(least, 'staging')).toThrow('no stage staging');
    expect(() => stageOf(least, null)).toThrow('stage is malformed');
  });
});
