import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { accountIn } from '../../bench/smoke/account.ts';
import { alarmArrives, refusedRequest } from '../../bench/smoke/alarm.ts';
import { checks } from '../../bench/smoke/checks.ts';
import { errorText } from '../../shared/base/values.ts';
import { changeProject } from '../../shared/identity/projects/change-settings.ts';
import { type Portico, startPortico } from '../spec/portico.ts';

let portico: Portico;
let dataDir = '';
beforeAll(async () => {
  portico = await startPortico({
    prepare(folder) {
      dataDir = folder;
    },
  });
});
afterAll(() => portico.stop());

function smoke(...more: string[]): Promise<{ code: unknown; lines: string[] }> {
  const args = ['--disable-warning=ExperimentalWarning', 'bench/smoke/main.ts', '--base', portico.baseUrl];
  const extent = ['--async-seconds', '0.5', '--executes', '3', '--apart-seconds', '0.1'];
  // Nobody's own account is asked.
  const nobody = {
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
  const { AWS_ACCESS_KEY_ID: _, ...own } = process.env;
  const env = { ...own, ...nobody, NODE_OPTIONS: '' };
  return new Promise((resolve) =>
    execFile(process.execPath, [...args, ...extent, ...more], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: `${stdout}${stderr}`.trim().split('\n') }),
    ),
  );
}

/** AWS on loopback, as far as the check asks it: the alarm goes off after so many failures. */
function loopbackAccount({ failures, summary }: { failures: number; summary: string }) {
  const asked: string[] = [];
  let failed = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    asked.push(new URLSearchParams(body).get('Action') ?? String(request.url));
    expect(request.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=\w+\//);
    if (request.url !== '/') {
      expect(JSON.parse(body)).toEqual(refusedRequest);
      failed += 1;
      response.setHeader('x-amz-function-error', 'Unhandled').end('{"errorMessage":"…"}');
      return;
    }
    // As the services answer, in their order of elements.
    const alarm = (name: string, entry: string) => `<member><StateReason>r &amp; r</StateReason>
      <AlarmActions><member>arn:aws:sns:eu-west-1:1:alarms</member></AlarmActions>
      <StateValue>${failed >= failures ? 'ALARM' : 'OK'}</StateValue><AlarmName>${name}</AlarmName>
      <AlarmDescription>What to do: docs/operate.md#${entry}.</AlarmDescription></member>`;
    const results: Record<string, string> = {
      DescribeAlarms: `<MetricAlarms>${alarm('another', 'canary')}${alarm('portico-dev-provision-X', 'function-failing')}</MetricAlarms>`,
      DescribeAlarmHistory: `<AlarmHistoryItems><member><HistorySummary>${summary}</HistorySummary></member></AlarmHistoryItems>`,
      ListSubscriptionsByTopic: `<Subscriptions><member><Protocol>email</Protocol>
        <SubscriptionArn>arn:aws:sns:eu-west-1:1:alarms:2</SubscriptionArn></member></Subscriptions>`,
    };
    const action = asked.at(-1) ?? '';
    response.end(
      `<${action}Response><${action}Result>${results[action]}</${action}Result></${action}Response>`,
    );
  });
  return { server, asked };
}

describe('an alarm', () => {
  const variables = ['LAMBDA', 'CLOUDWATCH', 'SNS'].map((one) => `AWS_ENDPOINT_URL_${one}`);
  // The stack in this process has credentials of its own, for nobody's account.
  afterEach(() => {
    for (const variable of variables) delete process.env[variable];
  });

  async function arrives(account: {
    failures: number;
    summary: string;
  }): Promise<{ saw: string; asked: string[] }> {
    const { server, asked } = loopbackAccount(account);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    for (const variable of variables) process.env[variable] = `http://127.0.0.1:${port}`;
    const stage = { name: 'dev', region: 'eu-west-1', alarmEmail: 'ops@example.org' };
    const saw = await alarmArrives({ stage, open: accountIn, apartSeconds: 0.001, most: 5 })
      .catch(errorText)
      .finally(() => server.close());
    return { saw, asked };
  }

  test('is raised by a function that fails for want of a sound request, and told', async () => {
    const { saw, asked } = await arrives({
      failures: 3,
      summary: 'Successfully executed action arn:aws:sns',
    });
    expect(saw).toMatch(/^went off after 0\.0 min, and told its topic, which has 1 confirmed/);
    expect(asked.filter((one) => one.includes('/functions/portico-dev-provision/'))).toHaveLength(3);
  });

  test('that does not go off, or tells nobody, is said', async () => {
    const quiet = await arrives({ failures: 9, summary: '' });
    expect(quiet.saw).toMatch(/^portico-dev-provision-X has not gone off after 5 failures$/);
    const untold = await arrives({ failures: 1, summary: 'Failed to execute action: no access to the key' });
    expect(untold.saw).toMatch(/^went off, and nobody was told: Failed.*key$/);
  });

  test('is provoked by what provision refuses before it looks at anything', async () => {
    const nothing = {} as Parameters<typeof changeProject>[0];
    const refused = changeProject(nothing, refusedRequest as unknown as Parameters<typeof changeProject>[1]);
    await expect(refused).rejects.toThrow('paused must be true or false');
  });
});

test('npm run smoke sees all that a laptop can show, and says what it costs', async () => {
  const { code, lines } = await smoke('--demo', join(dataDir, 'demo.json'), '--stage', 'dev');
  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  const names = lines.slice(0, -1).map((line) => line.slice(0, line.indexOf(': ')));
  expect(names).toEqual([...Object.keys(checks), 'an alarm arrives']);
  expect(lines.at(-2)).toBe('an alarm arrives: skipped: no AWS credentials (CredentialsProviderError)');
  expect(lines.at(-1)).toMatch(/^\d\d requests, about 0\.\d{4} USD$/);
  expect(code).toBe(0);
});

test('it says what it is not told', async () => {
  expect(await smoke()).toMatchObject({
    code: 2,
    lines: expect.arrayContaining([expect.stringMatching(/--demo/)]),
  });
});
