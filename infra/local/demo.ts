import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fieldsOf } from '../../shared/base/values.ts';
import { answerHelp } from '../command.ts';
import { type Stack, startStack } from './stack.ts';

const botCode = `
export async function handler(medplum, event) {
  console.log('input of type', event.contentType);
  if (event.contentType === 'x-application/hl7-v2+er7') {
    return event.input.buildAck({ ackCode: 'AA', text: event.input.get('PID.5.1') });
  }
  if (event.contentType === 'text/plain') return event.input.toUpperCase();
  return { received: event.input };
}
`;

const identifier = { system: 'https://example.org/bots', value: 'demo' };

const hl7 = [
  'MSH|^~\\&|SENDER|CLINIC|PORTICO|DEMO|20260101120000||ADT^A01^ADT_A01|MSG0001|P|2.5.1',
  'PID|1||12345^^^CLINIC^MR||Doe^Jane||19800101|F',
].join('\r');

interface Trial {
  contentType: string;
  body: string;
  /** Whether the answer is the right one. */
  isRight(text: string): boolean;
}

const trials: readonly Trial[] = [
  { contentType: 'text/plain', body: 'hello', isRight: (text) => text === 'HELLO' },
  {
    contentType: 'application/json',
    body: '{"n":1,"list":[true,null]}',
    isRight: (text) => text === '{"received":{"n":1,"list":[true,null]}}',
  },
  {
    contentType: 'application/x-www-form-urlencoded',
    body: 'name=Jane+Doe&city=Gen%C3%A8ve',
    isRight: (text) => text === '{"received":{"name":"Jane Doe","city":"Genève"}}',
  },
  {
    contentType: 'application/fhir+json',
    body: '{"resourceType":"Patient","active":true}',
    isRight: (text) => text === '{"received":{"resourceType":"Patient","active":true}}',
  },
  {
    contentType: 'x-application/hl7-v2+er7',
    body: hl7,
    isRight: (text) =>
      text.startsWith('MSH|^~\\&|PORTICO|DEMO|SENDER|CLINIC|') && text.includes('\rMSA|AA|MSG0001|Doe'),
  },
];

/**
 * Invites three people, deploys a Bot, executes it by id and by identifier in five content types.
 * @returns how many of the steps went wrong
 */
async function demonstrate(stack: Stack, print: (line: string) => void): Promise<number> {
  const [project] = stack.demo.projects;
  if (!project) throw new Error('There is no demo Project');
  let wrong = 0;
  const report = (isRight: boolean, line: string) => {
    if (!isRight) wrong++;
    print(`${isRight ? 'ok   ' : 'WRONG'} ${line}`);
  };

  const token = await post(`${stack.baseUrl}/oauth2/token`, {
    contentType: 'application/x-www-form-urlencoded',
    body: `grant_type=client_credentials&client_id=${project.clientId}&client_secret=${project.clientSecret}`,
  });
  const access = String(fieldsOf(token.json).access_token ?? '');
  report(token.status === 200, `token for the client of ${project.name}`);
  const call = (path: string, body: string, contentType = 'application/json') =>
    post(`${stack.baseUrl}/${path}`, { contentType, body, access });

  const admin = `admin/projects/${project.id}`;
  for (const [resourceType, firstName] of [
    ['Patient', 'Paula'],
    ['Practitioner', 'Peter'],
    ['RelatedPerson', 'Rita'],
  ] as const) {
    const email = `${firstName.toLowerCase()}@example.org`;
    const invite = { resourceType, firstName, lastName: 'Example', email };
    const answer = await call(`${admin}/invite`, JSON.stringify(invite));
    const profile = String(fieldsOf(fieldsOf(answer.json).profile).reference ?? answer.text);
    report(answer.status === 200 && profile.startsWith(`${resourceType}/`), `invite ${email}: ${profile}`);
  }
  report((await mailsArrived(stack, 3)) === 3, 'three invitation mails in the mailbox');

  const created = await call(`${admin}/bot`, JSON.stringify({ name: 'Demo Bot', identifier: [identifier] }));
  const botId = String(fieldsOf(created.json).id ?? '');
  report(created.status === 201, `create Bot/${botId}`);
  const deployed = await call(
    `fhir/R4/Bot/${botId}/$deploy`,
    JSON.stringify({ code: botCode, filename: 'bot.js' }),
  );
  report(deployed.status === 200, `deploy: ${deployed.text}`);

  const byIdentifier = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
  for (const [how, path] of [
    ['by id        ', `fhir/R4/Bot/${botId}/$execute`],
    ['by identifier', `fhir/R4/Bot/$execute?${byIdentifier}`],
  ] as const) {
    for (const { contentType, body, isRight } of trials) {
      const answer = await call(path, body, contentType);
      const isOk = answer.status === 200 && isRight(answer.text);
      report(isOk, `execute ${how} ${contentType}: ${answer.status} ${answer.text.replaceAll('\r', ' / ')}`);
    }
  }
  return wrong;
}

interface Answer {
  status: number;
  text: string;
  json: unknown;
}

async function post(
  url: string,
  request: { contentType: string; body: string; access?: string },
): Promise<Answer> {
  const authorization = request.access ? { authorization: `Bearer ${request.access}` } : {};
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': request.contentType, ...authorization },
    body: request.body,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : {} };
}

/** The mail goes out after the answer, from the table's stream. */
async function mailsArrived(stack: Stack, expected: number): Promise<number> {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const count = (await stack.mailbox.list()).length;
    if (count >= expected) return count;
    await pause(50);
  }
  return (await stack.mailbox.list()).length;
}

/** `npm run demo`: the main job once on a fresh folder; exits 0 only if all of it was right. */
answerHelp(
  'npm run demo\n  does the main job once on a fresh folder, and says whether all of it was right\n',
);
const dataDir = await mkdtemp(join(tmpdir(), 'portico-demo-'));
const stack = await startStack({ dataDir, port: 0 });
let wrong: number;
try {
  wrong = await demonstrate(stack, (line) => process.stdout.write(`${line}\n`));
} finally {
  await stack.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.stdout.write(wrong === 0 ? 'All of it was right.\n' : `${wrong} of it went wrong.\n`);
process.exit(wrong === 0 ? 0 : 1);
