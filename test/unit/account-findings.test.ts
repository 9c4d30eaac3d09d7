import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountFacts, askAccount, findings } from '../../infra/local/deploy.ts';
import { useLocalCredentials } from '../../infra/local/environment.ts';

const stage = {
  ...{ name: 'prod', mailFrom: 'portico@example.org', region: 'eu-west-1', mailSandbox: false },
  accountConcurrency: 1_000,
};
const good: AccountFacts = { senderVerified: true, mailSandbox: false, concurrency: 1_000 };

describe('before a deploy', () => {
  it('says nothing of an account that is ready', () => {
    expect(findings(good, stage)).toEqual([]);
  });

  it.each([
    [10, 10, [/10 functions .* 5 Bots/]],
    [
      10,
      1_000,
      [/10 functions .* 5 Bots/, /counts on 1000 .*the deployment fails.* "accountConcurrency": 10 for prod/],
    ],
    [200, 300, [/counts on 300 .* alarm comes too late/]],
    [1_000, 10, [/counts on 10: no function has a share.* "accountConcurrency": 1000 for prod/]],
    [1_000, 500, []],
  ])(
    'says of %d executions at once what is wrong with a stage of %d',
    (concurrency, accountConcurrency, expected) => {
      const said = findings({ ...good, concurrency }, { ...stage, accountConcurrency });
      expect(said).toEqual(expected.map((words) => expect.stringMatching(words)));
    },
  );

  it.each<[string, Partial<AccountFacts>, boolean, RegExp]>([
    ['a sender that is not verified', { senderVerified: false }, false, /create-email-identity .*portico@/],
    [
      'a sandbox that the stage does not know of',
      { mailSandbox: true },
      false,
      /"mailSandbox": true for prod/,
    ],
    ['a sandbox that it knows of', { mailSandbox: true }, true, /not verified there get no mail/],
    ['a sandbox that was left', {}, true, /take "mailSandbox" off prod/],
    ['what may not be asked', { concurrency: undefined }, false, /lambda:GetAccountSettings/],
  ])('says what is wrong: %s', (_, facts, mailSandbox, expected) => {
    const said = findings({ ...good, ...facts }, { ...stage, mailSandbox });
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(expected);
  });
});

describe('the account is asked', () => {
  const answers: Record<string, [number, object]> = {
    '/v2/email/identities/portico%40example.org': [404, { message: 'none' }],
    '/v2/email/identities/example.org': [200, { VerifiedForSendingStatus: true }],
    '/v2/email/account': [200, { ProductionAccessEnabled: false }],
    '/2016-08-19/account-settings': [200, { AccountLimit: { ConcurrentExecutions: 10 } }],
  };
  const server = createServer(({ url = '' }, response) => {
    const [status, body] = answers[url.replace(/\/$/, '')] ?? [500, {}];
    const headers = { 'content-type': 'application/json', 'x-amzn-errortype': 'NotFoundException' };
    response.writeHead(status, status === 404 ? headers : {}).end(JSON.stringify(body));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    useLocalCredentials();
    process.env.AWS_ENDPOINT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    delete process.env.AWS_ENDPOINT_URL;
    server.closeAllConnections();
    server.close();
  });

  it('of SES by address and domain, and of Lambda', async () => {
    expect(await askAccount(stage)).toEqual({ senderVerified: true, mailSandbox: true, concurrency: 10 });
  });

  it('and what it refuses to say is not known', async () => {
    answers['/2016-08-19/account-settings'] = [403, {}];
    expect(await askAccount(stage)).toEqual({
      senderVerified: true,
      mailSandbox: true,
      concurrency: undefined,
    });
  });
});
