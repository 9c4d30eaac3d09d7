import { readFile } from 'node:fs/promises';
import { type DeployedFunction, permissions } from '../permissions.ts';
import { lambdaContext } from './context.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run invoke -- <function> <event.json>`: one handler on one event, here, on the data of the stack
 * that runs or of one started for it. Prints what the handler returned; ends with 1 when it threw.
 */
const timeoutMs = 29_000;

const [, , name = '', eventFile = ''] = process.argv;
if (!(name in permissions) || !eventFile) {
  process.stderr.write(`npm run invoke -- <${Object.keys(permissions).join('|')}> <event.json>\n`);
  process.exit(2);
}
const event: unknown = JSON.parse(await readFile(eventFile, 'utf8'));
const answered = await withStack(settings(process.env), async () => {
  const handler = (await handlerLoader()(name as DeployedFunction)) as (
    ...args: unknown[]
  ) => Promise<unknown>;
  return handler(event, lambdaContext(`portico-${name}`, timeoutMs));
}).catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
process.stdout.write(`${JSON.stringify(answered, null, 2)}\n`);
process.exit(0);
