import { randomBytes } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newPkce, signIn } from '../../../client/src/sign-in.ts';
import { exchangeCode } from '../../../client/src/tokens.ts';
import { errorText } from '../../../shared/base/values.ts';
import { command } from '../../command.ts';
import { useLocalCredentials, usualTable } from '../environment.ts';
import { freePort } from '../gateway/listen.ts';
import { sentMails } from '../services/mailbox.ts';
import { replaceBotSecret, replaceSigningKey, replaceStageKey } from './replace-keys.ts';
import {
  type DrillPlace,
  itemsNow,
  linkMailedTo,
  operate,
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
const password = 'a drill of four words';
let failures = 0;

function tried(what: string, is: boolean): void {
  process.stdout.write(`${is ? 'ok    ' : 'FAILED'} ${what}\n`);
  if (!is) failures += 1;
}

/** Who was what when. */
type Story = Awaited<ReturnType<typeof live>>['story'];

/** The access token of a sign-in; undefined when address and password are none. */
async function enter({ baseUrl }: RunningStack, email: string, given: string): Promise<string | undefined> {
  const { codeVerifier, ...challenge } = await newPkce();
  const step = await signIn({ baseUrl, email, password: given, ...challenge }).catch(() => undefined);
  if (step?.kind !== 'code') return undefined;
  return (await exchangeCode({ baseUrl, code: step.code, codeVerifier })).accessToken;
}

/** What was there at the moment to which the table is put back, and what came after it. */
async function live(place: DrillPlace) {
  await using stack = await runStack(place);
  const { call, admin, project } = stack;
  const token = await stack.clientToken();
  const create = async () =>
    String((await call('POST', 'fhir/R4/Patient', { token, body: { resourceType: 'Patient' } })).json.id);
  const bot = await stack.deploy(token, 'exports.handler = async () => "ran"');
  const address = (name: string) => `${name}-${randomBytes(3).toString('hex')}@example.org`;
  const emails = { pending: address('pending'), removed: address('removed'), changed: address('changed') };
  const admit = async (email: string) => {
    const membership = await stack.invite(token, email);
    const body = { ...(await linkMailedTo(place, email)), password };
    await call('POST', 'auth/setpassword', { body });
    return membership;
  };
  const leaving = await admit(emails.removed);
  await admit(emails.changed);
  const membership = await stack.invite(token, emails.pending);
  const link = await linkMailedTo(place, emails.pending);
  const kept = await create();
  const items = await itemsNow(place);

  await call('DELETE', `${admin}/members/${membership}/invitation`, { token });
  await call('DELETE', `${admin}/members/${leaving}`, { token });
  const own = (await enter(stack, emails.changed, password)) ?? '';
  const body = { oldPassword: password, newPassword: `${password} since` };
  await call('POST', 'auth/changepassword', { token: own, body });
  const lost = await create();
  return { story: { project, oldToken: token, kept, lost, bot, emails, membership, link }, items };
}

async function afterwards(place: DrillPlace, story: Story): Promise<void> {
  const { list } = sentMails(join(place.dataDir, 'mail'));
  const sentBefore = (await list()).length;
  await using stack = await runStack(place);
  const { project, oldToken, kept, lost, bot, emails, membership, link } = story;
  const tries = async (
    what: string,
    expected: number,
    line: string,
    sent: { token?: string; body?: object },
  ) => {
    const [method = '', path = ''] = line.split(' ');
    tried(what, (await stack.call(method, path, sent)).status === expected);
  };
  const enters = async (email: string, given: string) => (await enter(stack, email, given)) !== undefined;
  const [executes, accepts] = [`POST fhir/R4/Bot/${bot}/$execute`, 'POST auth/setpassword'];
  await tries('a token of before opens nothing', 401, `GET fhir/R4/Patient/${kept}`, { token: oldToken });
  const token = await stack.clientToken();
  await tries('a new sign-in does', 200, `GET fhir/R4/Patient/${kept}`, { token });
  await tries('what was written later is not there', 404, `GET fhir/R4/Patient/${lost}`, { token });
  const revoked = { body: { ...link, password } };
  await tries('an invitation that was revoked later opens nothing', 400, accepts, revoked);
  tried('who was removed later does not get in', !(await enters(emails.removed, password)));
  tried('a password that was changed later is the new one', !(await enters(emails.changed, password)));
  tried('and that one opens', await enters(emails.changed, `${password} since`));
  await tries('no Bot runs', 400, executes, { token, body: {} });
  tried('no mail was sent', (await list()).length === sentBefore);
  await operate(place, 'provision', '--project', project, '--resumed');
  await tries('a Project that was let go on runs its Bots', 200, executes, { token, body: {} });
  const again = `POST ${stack.admin}/members/${membership}/invitation`;
  await tries('an invitation may be sent anew', 200, again, { token });
  const anew = await linkMailedTo(place, emails.pending, (id) => id !== link.id);
  await tries('and its link opens', 200, accepts, { body: { ...anew, password } });
}

/** Puts the table back, and looks at what comes of it. */
async function restore(lost: DrillPlace, restored: DrillPlace): Promise<void> {
  const { story, items } = await live(lost);
  const { prepared, violations } = await recoverLocally(restored, items, lost.tableName);
  process.stdout.write(`${JSON.stringify(prepared)}\n`);
  tried('the restored table holds together', violations.length === 0);
  for (const violation of violations) process.stdout.write(`${JSON.stringify(violation)}\n`);
  await afterwards(restored, story);
}

const usage = `npm run drill -- [restore] [rotate]
  restore  a table is put back to an earlier moment, checked, and used
  rotate   the signing key, a secret key of the stage and a Bot's secret are replaced
  in a folder of its own, with both when none is named; exit code 1 when something went otherwise than docs/recover.md says
`;
await command(usage, { failed: 2, allowPositionals: true }, async ({ positionals: halves }) => {
  const unknown = halves.find((half) => half !== 'restore' && half !== 'rotate');
  if (unknown !== undefined) throw new Error(`There is no ${unknown}`);
  useLocalCredentials();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'portico-drill-'));
  let place = { dataDir: folder.path, port: await freePort(), tableName: usualTable };
  try {
    const wants = (half: string) => halves.length === 0 || halves.includes(half);
    if (wants('restore')) {
      const restored = { ...place, tableName: 'portico-restored' };
      await restore(place, restored);
      place = restored;
    }
    if (wants('rotate')) {
      for (const replace of [replaceSigningKey, replaceStageKey, replaceBotSecret])
        await replace(place, tried);
    }
  } catch (error) {
    tried(errorText(error), false);
  }
  process.exitCode = failures > 0 ? 1 : 0;
});
