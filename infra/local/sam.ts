import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { command, text } from '../command.ts';
import { addonOf } from '../guest/build.ts';
import { onlyOnAws, readAssembly, samName, samTemplate } from './assembly/read-assembly.ts';
import { environmentFile, localAws } from './environment.ts';
import { settings } from './settings.ts';

/**
 * `npm run sam`: writes `<data>/sam/template.json` for the AWS SAM CLI, with the functions that `npm run synth` has
 * bundled and the values of the stack of the data folder, which runs or has run.
 */
const usage = `npm run sam -- [--from cdk.out] [--host host.docker.internal]
  --host  by which the containers of SAM reach this machine
`;
/** Of `sam local start-lambda`. */
const lambdaPort = 3001;

async function writeSam(from: string, host: string): Promise<string> {
  const { dataDir } = settings(process.env);
  const folder = join(dataDir, 'sam');
  const environment = JSON.parse(
    await readFile(environmentFile(dataDir), 'utf8').catch(() => {
      throw new Error(`${dataDir} has no stack: start one with npm start`);
    }),
  ) as Record<string, string>;
  const functions = onePerFolder(await readAssembly(from));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const one of functions) {
    const code = join(folder, samName(one.folder));
    await cp(one.asset, code, { recursive: true });
    if ('KEYS' in one.variables) await copyFile(join(dataDir, 'keys.json'), join(code, 'keys.json'));
    if (one.folder === 'invoker' && process.arch === 'x64') {
      await copyFile(addonOf('linux-x64'), join(code, 'guest/isolated-vm.node'));
    }
  }
  const seenFromInside = Object.entries(environment).map(([name, value]) => [
    name,
    name === 'BASE_URL' ? value : value.replace('//127.0.0.1:', `//${host}:`),
  ]);
  const values = {
    ...Object.fromEntries(seenFromInside),
    ...localAws,
    ...onlyOnAws,
    KEYS: 'file:/var/task/keys.json',
    LAMBDA_ENDPOINT: `http://${host}:${lambdaPort}`,
    JOBS_ENDPOINT: `http://${host}:${lambdaPort}`,
    ...{ INVOKER_FUNCTION: samName('invoker'), EVALUATOR_FUNCTION: samName('invoker') },
    JOBS_FUNCTION: samName('jobs'),
  };
  const template = join(folder, 'template.json');
  const architecture = process.arch === 'x64' ? 'x86_64' : 'arm64';
  await writeFile(template, `${JSON.stringify(samTemplate(functions, values, architecture), null, 2)}\n`);
  return template;
}

function onePerFolder<One extends { folder: string }>(functions: readonly One[]): One[] {
  return [...new Map(functions.map((one) => [one.folder, one])).values()];
}

await command(usage, 1, async () => {
  const { values } = parseArgs({
    options: { from: { ...text, default: 'cdk.out' }, host: { ...text, default: 'host.docker.internal' } },
  });
  const template = relative('', await writeSam(resolve(values.from), values.host));
  process.stdout.write(`${template}\nsam local invoke Invite -t ${template} -e event.json\n`);
});
