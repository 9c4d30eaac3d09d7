import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '../../../shared/base/values.ts';
import { answerHelp } from '../../command.ts';
import { environmentFile, type HandlerEnvironment, useLocalCredentials } from '../environment.ts';
import { freePort } from '../gateway/listen.ts';
import { usualTable } from '../table.ts';
import { replaceBotSecret, replaceStageKey, rotate } from './replace-keys.ts';
import {
  itemsNow,
  linkMailedTo,
  mailsSent,
  operate,
  type Place,
  type RunningStack,
  recoverLocally,
  runStack,
} from './running-stack.ts';

/**
 * `npm run drill`, or `npm run drill -- restore` or `rotate` for one of its halves: the procedures of docs/recover.md
 * from end to end on this machine, in a folder of its own. A table is put back to an earlier moment as a new table, made
 * fit to be used, checked, and the stack is pointed at it; then the signing key is replaced, one of the stage's
 * secret keys, and a Bot's secret. Each line is something that was tried; exit code 1 when one of them went otherwise.
 */
const restored = 'portico-restored';
const password = 'a drill of four words';
let failures = 0;

function tried(what: string, is: boolean): void {
  process.stdout.write(`${is ? 'ok    ' : 'FAILED'} ${what}\n`);
  if (!is) failures += 1;
}

/** Who was what when. */
interface Story {
  project: string;
  oldToken: string;
  kept: string;
  lost: string;
  pending: { email: string; membership: string; link: { id: string; secret: string } };
  removed: string;
  changed: string;
  bot: string;
}

const address = (name: string) => `${name}-${randomBytes(3).toString('hex')}@example.org`;

async function invite(stack: RunningStack, token: string, project: string, email: string): Promise<string> {
  const body = { resourceType: 'Practitioner', firstName: 'Dora', lastName: 'Drill', email };
  const { json } = await stack.call('POST', `admin/projects/${project}/invite`, { token, body });
  return String(json?.id);
}

/** Whether an address and password are a sign-in. */
async function signsIn(stack: RunningStack, email: string, given: string): Promise<string | undefined> {
  const verifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
  const body = { email, password: given, clientId: '', codeChallenge, codeChallengeMethod: 'S256' };
  const { status, json } = await stack.call('POST', 'auth/login', { body });
  if (status !== 200 || typeof json?.code !== 'string') return undefined;
  const grant = { grant_type: 'authorization_code', code: json.code, code_verifier: verifier };
  const tokens = await stack.call('POST', 'oauth2/token', { body: new URLSearchParams(grant) });
  return tokens.status === 200 ? String(tokens.json?.access_token) : undefined;
}

/** What was there at the moment to which the table is put back, and what came after it. */
async function live(place: Place): Promise<{ story: Story; items: Awaited<ReturnType<typeof itemsNow>> }> {
  const { dataDir } = place;
  const stack = await runStack(place, usualTable);
  try {
    const project = stack.demo.projects[0]?.id ?? '';
    const token = await stack.clientToken();
    const create = async () =>
      String(
        (await stack.call('POST', 'fhir/R4/Patient', { token, body: { resourceType: 'Patient' } })).json?.id,
      );
    const bot = await stack.call('POST', `admin/projects/${project}/bot`, { token, body: { name: 'Drill' } });
    const botId = String(bot.json?.id);
    const code = 'exports.handler = async () => "ran"';
    await stack.call('POST', `fhir/R4/Bot/${botId}/$deploy`, { token, body: { code } });
    const emails = { pending: address('pending'), removed: address('removed'), changed: address('changed') };
    const joined: string[] = [];
    for (const email of [emails.removed, emails.changed]) {
      joined.push(await invite(stack, token, project, email));
      const body = { ...(await linkMailedTo(dataDir, email)), password };
      await stack.call('POST', 'auth/setpassword', { body });
    }
    const membership = await invite(stack, token, project, emails.pending);
    const link = await linkMailedTo(dataDir, emails.pending);
    const kept = await create();
    const { DYNAMODB_ENDPOINT } = JSON.parse(
      await readFile(environmentFile(dataDir), 'utf8'),
    ) as HandlerEnvironment;
    const items = await itemsNow(DYNAMODB_ENDPOINT, usualTable);

    const members = `admin/projects/${project}/members`;
    await stack.call('DELETE', `${members}/${membership}/invitation`, { token });
    await stack.call('DELETE', `${members}/${joined[0]}`, { token });
    const own = await signsIn(stack, emails.changed, password);
    const body = { oldPassword: password, newPassword: `${password} since` };
    await stack.call('POST', 'auth/changepassword', { token: own ?? '', body });
    const story = {
      ...{ project, oldToken: token, kept, lost: await create(), bot: botId },
      pending: { email: emails.pending, membership, link },
      ...{ removed: emails.removed, changed: emails.changed },
    };
    return { story, items };
  } finally {
    await stack.stop();
  }
}

async function afterwards(place: Place, story: Story): Promise<void> {
  const { dataDir } = place;
  const sentBefore = await mailsSent(dataDir);
  const stack = await runStack(place, restored);
  try {
    const { project, oldToken, pending, bot } = story;
    const status = async (method: string, path: string, token: string, body?: unknown) =>
      (await stack.call(method, path, { token, ...(body ? { body } : {}) })).status;
    tried(
      'a token of before opens nothing',
      (await status('GET', `fhir/R4/Patient/${story.kept}`, oldToken)) === 401,
    );
    const token = await stack.clientToken();
    tried('a new sign-in does', (await status('GET', `fhir/R4/Patient/${story.kept}`, token)) === 200);
    tried(
      'what was written later is not there',
      (await status('GET', `fhir/R4/Patient/${story.lost}`, token)) === 404,
    );
    const accept = { ...pending.link, password };
    tried(
      'an invitation that was revoked later opens nothing',
      (await status('POST', 'auth/setpassword', '', accept)) === 400,
    );
    tried(
      'who was removed later does not get in',
      (await signsIn(stack, story.removed, password)) === undefined,
    );
    tried(
      'a password that was changed later is the new one',
      (await signsIn(stack, story.changed, password)) === undefined,
    );
    tried('and that one opens', (await signsIn(stack, story.changed, `${password} since`)) !== undefined);
    tried('no Bot runs', (await status('POST', `fhir/R4/Bot/${bot}/$execute`, token, {})) === 400);
    tried('no mail was sent', (await mailsSent(dataDir)) === sentBefore);
    await operate(place, restored, ['infra/local/provision.ts', '--project', project, '--resumed']);
    tried(
      'a Project that was let go on runs its Bots',
      (await status('POST', `fhir/R4/Bot/${bot}/$execute`, token, {})) === 200,
    );
    const again = `admin/projects/${project}/members/${pending.membership}/invitation`;
    tried('an invitation may be sent anew', (await status('POST', again, token)) === 200);
    const link = await linkMailedTo(dataDir, pending.email, (id) => id !== pending.link.id);
    const body = { ...link, password };
    tried('and its link opens', (await status('POST', 'auth/setpassword', '', body)) === 200);
  } finally {
    await stack.stop();
  }
}

const usage = `npm run drill -- [restore] [rotate]
  restore  a table is put back to an earlier moment, checked, and used
  rotate   the signing key, a secret key of the stage and a Bot's secret are replaced
  in a folder of its own, with both when none is named; exit code 1 when something went otherwise than docs/recover.md says
`;
answerHelp(usage);
const halves = process.argv.slice(2);
const unknown = halves.find((half) => half !== 'restore' && half !== 'rotate');
if (unknown !== undefined) {
  process.stderr.write(`There is no ${unknown}\n${usage}`);
  process.exit(2);
}
useLocalCredentials();
const dataDir = await mkdtemp(join(tmpdir(), 'portico-drill-'));
const place = { dataDir, port: await freePort() };

/** Puts the table back, and looks at what comes of it. */
async function restore(): Promise<void> {
  const { story, items } = await live(place);
  const { prepared, violations } = await recoverLocally(dataDir, items, { lost: usualTable, restored });
  process.stdout.write(`${JSON.stringify(prepared)}\n`);
  tried('the restored table holds together', violations.length === 0);
  for (const violation of violations) process.stdout.write(`${JSON.stringify(violation)}\n`);
  await afterwards(place, story);
}

try {
  const wants = (half: string) => halves.length === 0 || halves.includes(half);
  if (wants('restore')) await restore();
  if (wants('rotate')) {
    const tableName = wants('restore') ? restored : usualTable;
    await rotate(place, tableName, tried);
    await replaceStageKey(place, tableName, tried);
    await replaceBotSecret(place, tableName, tried);
  }
} catch (error) {
  tried(errorText(error), false);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
process.exitCode = failures > 0 ? 1 : 0;
