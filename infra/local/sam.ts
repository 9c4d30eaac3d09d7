import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { command, text } from '../command.ts';
import {
  copyAsset,
  onlyOnAws,
  readAssembly,
  type SynthesisedFunction,
  samName,
  variablesOf,
} from './assembly/assembly.ts';
import { localAws, readEnvironment, settings } from './environment.ts';

/**
 * `npm run sam`: writes `<data>/sam/template.json` for the AWS SAM CLI, with the functions that `npm run synth` has
 * bundled and the values of the stack of the data folder, which runs or has run.
 */
const usage = `npm run sam -- [--from cdk.out] [--host host.docker.internal]
  --host  by which the containers of SAM reach this machine
`;
/** Of `sam local start-lambda`. */
const lambdaPort = 3001;

export type SamTemplate = ReturnType<typeof templateOf>;

/** One template with every function. Every value is a text: SAM resolves none of another stack. */
function templateOf(functions: readonly SynthesisedFunction[], values: Readonly<Record<string, string>>) {
  const resources = functions.map((one) => {
    const Variables: Record<string, string> = one.folder === 'invoker' ? {} : variablesOf(one, values);
    const Properties = {
      ...{ CodeUri: `./${samName(one.folder)}`, Handler: one.handler, Runtime: 'nodejs24.x' },
      Architectures: [process.arch === 'x64' ? 'x86_64' : 'arm64'],
      ...{ Timeout: one.timeoutSeconds, MemorySize: one.memoryMb, Environment: { Variables } },
    };
    return [samName(one.folder), { Type: 'AWS::Serverless::Function', Properties }] as const;
  });
  return {
    ...{ AWSTemplateFormatVersion: '2010-09-09', Transform: 'AWS::Serverless-2016-10-31' },
    Resources: Object.fromEntries(resources),
  };
}

const options = {
  from: { ...text, default: 'cdk.out' },
  host: { ...text, default: 'host.docker.internal' },
};
await command(usage, { failed: 1, options }, async ({ values }) => {
  const { dataDir } = settings();
  const folder = join(dataDir, 'sam');
  const environment = await readEnvironment(dataDir);
  // Several functions may come from one folder: one of them is enough.
  const named = new Map((await readAssembly(resolve(values.from))).map((one) => [one.folder, one]));
  const functions = [...named.values()];
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const one of functions) {
    const code = join(folder, samName(one.folder));
    await copyAsset(one, code, process.arch === 'x64' ? 'linux-x64' : 'linux-arm64');
    if ('KEYS' in one.variables) await copyFile(join(dataDir, 'keys.json'), join(code, 'keys.json'));
  }
  const seenFromInside = Object.entries(environment).map(([name, value]) => [
    name,
    name === 'BASE_URL' ? value : value.replace('//127.0.0.1:', `//${values.host}:`),
  ]);
  const here = {
    ...Object.fromEntries(seenFromInside),
    ...localAws,
    ...onlyOnAws,
    KEYS: 'file:/var/task/keys.json',
    LAMBDA_ENDPOINT: `http://${values.host}:${lambdaPort}`,
    JOBS_ENDPOINT: `http://${values.host}:${lambdaPort}`,
    ...{ INVOKER_FUNCTION: samName('invoker'), EVALUATOR_FUNCTION: samName('invoker') },
    JOBS_FUNCTION: samName('jobs'),
  };
  const file = join(folder, 'template.json');
  await writeFile(file, `${JSON.stringify(templateOf(functions, here), null, 2)}\n`);
  const template = relative('', file);
  process.stdout.write(`${template}\nsam local invoke Invite -t ${template} -e event.json\n`);
});
