import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorText } from '../../../shared/error-name.ts';
import { linkMailedTo, type Place, type RunningStack, runStack } from './running-stack.ts';

const purpose = 'invitation-link';
/** A version is used half a minute after it was made. */
const untilUsedMs = 30_000;

/** One of the stage's secret keys is replaced beside a running stack: links of before and after open. */
export async function replaceStageKey(
  place: Place,
  tableName: string,
  tried: (what: string, is: boolean) => void,
): Promise<void> {
  const command = async (step: string) => {
    const env = {
      ...process.env,
      ...{ NODE_OPTIONS: '', PORTICO_DATA_DIR: place.dataDir, PORTICO_TABLE: tableName },
    };
    const args = ['--disable-warning=ExperimentalWarning', 'infra/local/operate/stage-keys.ts'];
    await promisify(execFile)(process.execPath, [...args, purpose, step], { env });
  };
  const refused = (step: string) =>
    command(step).then(
      () => '',
      (error: unknown) => errorText(error),
    );
  const invited = async (stack: RunningStack) => {
    const email = `key-${randomBytes(3).toString('hex')}@example.org`;
    const body = { resourceType: 'Practitioner', firstName: 'Kay', lastName: 'Drill', email };
    const project = stack.demo.projects[0]?.id ?? '';
    await stack.call('POST', `admin/projects/${project}/invite`, { token: await stack.clientToken(), body });
    return linkMailedTo(place.dataDir, email);
  };
  const stack = await runStack(place, tableName);
  const first = await invited(stack)
    .then(async (link) => {
      await command('prepare');
      tried('a new key is used by nobody at once', (await refused('use')).includes('can be used from'));
      await pause(untilUsedMs);
      await command('use');
      return link;
    })
    .finally(stack.stop);
  // It would know of it in ten minutes by itself.
  const next = await runStack(place, tableName);
  try {
    const link = await invited(next);
    tried('then it makes the links', link.secret.endsWith('.2'));
    for (const one of [first, link]) {
      const body = { ...one, password: 'a drill of four words' };
      const { status } = await next.call('POST', 'auth/setpassword', { body });
      tried('and links of either key open', status === 200);
    }
    tried(
      'the key of before stays while links of it may be good',
      (await refused('retire')).includes('can be retired from'),
    );
  } finally {
    await next.stop();
  }
}
