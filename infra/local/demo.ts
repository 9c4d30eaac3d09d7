import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldsOf } from '../../shared/base/values.ts';
import { answerHelp } from '../command.ts';
import { callsTo, type DemoProject, demoToken } from './demo-projects.ts';
import { type Stack, startStack } from './stack.ts';

/** A stack on a fresh folder, with the first Project of its demo and an access token of that one's client. */
export interface DemoStack extends Stack {
  project: DemoProject;
  token: string;
  call: ReturnType<typeof callsTo>;
}

/** Does something with a stack of its own, of which nothing is left afterwards. @param name of what does it */
export async function withDemoStack(name: string, run: (stack: DemoStack) => Promise<void>): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), `portico-${name}-`));
  await using stack = await startStack({ dataDir: folder.path, port: 0 });
  const { baseUrl, demo } = stack;
  const [project] = demo.projects;
  if (!project) throw new Error('There is no demo Project');
  await run({ ...stack, project, token: await demoToken(baseUrl, project), call: callsTo(baseUrl) });
}

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

const acknowledgement = 'MSH|^~\\&|PORTICO|DEMO|SENDER|CLINIC|';

/** What is executed, by its content type, and whether the answer is the right one. */
const trials: readonly [type: string, body: string, isRight: (text: string) => boolean][] = [
  ['text/plain', 'hello', (text) => text === 'HELLO'],
  [
    'application/json',
    '{"n":1,"list":[true,null]}',
    (text) => text === '{"received":{"n":1,"list":[true,null]}}',
  ],
  [
    'application/x-www-form-urlencoded',
    'name=Jane+Doe&city=Gen%C3%A8ve',
    (text) => text === '{"received":{"name":"Jane Doe","city":"Genève"}}',
  ],
  [
    'application/fhir+json',
    '{"resourceType":"Patient","active":true}',
    (text) => text === '{"received":{"resourceType":"Patient","active":true}}',
  ],
  [
    'x-application/hl7-v2+er7',
    hl7,
    (text) => text.startsWith(acknowledgement) && text.includes('\rMSA|AA|MSG0001|Doe'),
  ],
];

let wrong = 0;

function report(isRight: boolean, line: string): void {
  if (!isRight) wrong++;
  process.stdout.write(`${isRight ? 'ok   ' : 'WRONG'} ${line}\n`);
}

/** Invites three people, deploys a Bot, executes it by id and by identifier in five content types. */
async function demonstrate({ project, token, call, mailbox }: DemoStack): Promise<void> {
  report(true, `token for the client of ${project.name}`);
  const post = (path: string, body: unknown, more = {}) => call('POST', path, { token, body, ...more });

  const admin = `admin/projects/${project.id}`;
  const people = { Patient: 'Paula', Practitioner: 'Peter', RelatedPerson: 'Rita' };
  for (const [resourceType, firstName] of Object.entries(people)) {
    const email = `${firstName.toLowerCase()}@example.org`;
    const invite = { resourceType, firstName, lastName: 'Example', email };
    const answer = await post(`${admin}/invite`, invite);
    const profile = String(fieldsOf(answer.json.profile).reference ?? answer.text);
    report(answer.status === 200 && profile.startsWith(`${resourceType}/`), `invite ${email}: ${profile}`);
    // The mail goes out after the answer, from the table's stream.
    await mailbox.waitFor(({ to }) => to.includes(email), 10_000).catch(() => undefined);
  }
  report((await mailbox.list()).length === 3, 'three invitation mails in the mailbox');

  const created = await post(`${admin}/bot`, { name: 'Demo Bot', identifier: [identifier] });
  const botId = String(created.json.id ?? '');
  report(created.status === 201, `create Bot/${botId}`);
  const deployed = await post(`fhir/R4/Bot/${botId}/$deploy`, { code: botCode, filename: 'bot.js' });
  report(deployed.status === 200, `deploy: ${deployed.text}`);

  const byIdentifier = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
  const ways = {
    'by id        ': `fhir/R4/Bot/${botId}/$execute`,
    'by identifier': `fhir/R4/Bot/$execute?${byIdentifier}`,
  };
  for (const [how, path] of Object.entries(ways)) {
    for (const [type, body, isRight] of trials) {
      const { status, text } = await post(path, body, { type });
      const said = text.replaceAll('\r', ' / ');
      report(status === 200 && isRight(text), `execute ${how} ${type}: ${status} ${said}`);
    }
  }
}

/** `npm run demo`: the main job once on a fresh folder; exits 0 only if all of it was right. */
if (import.meta.main) {
  answerHelp(
    'npm run demo\n  does the main job once on a fresh folder, and says whether all of it was right\n',
  );
  await withDemoStack('demo', demonstrate);
  process.stdout.write(wrong === 0 ? 'All of it was right.\n' : `${wrong} of it went wrong.\n`);
  process.exit(wrong === 0 ? 0 : 1);
}
