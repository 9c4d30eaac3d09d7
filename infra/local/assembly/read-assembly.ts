import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localAws } from '../environment.ts';
import type { Statement } from './role.ts';

/** A function as a synthesised template describes it. */
export interface SynthesisedFunction {
  /** The folder of its source, such as `execute-by-id`; several functions may come from one. */
  folder: string;
  /** Absolute path of what Lambda would unpack. */
  asset: string;
  handler: string;
  timeoutSeconds: number;
  memoryMb: number;
  /** As in the template: a text, or a reference to what CloudFormation knows. */
  variables: Readonly<Record<string, unknown>>;
  /** What its role may do. */
  statements: readonly Statement[];
  /** In tenant isolation mode. */
  isTenanted: boolean;
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
}

/**
 * The functions of `cdk synth`'s output folder. Every role's description begins with its function's folder:
 * `infra/constructs/house-function.ts`.
 * @throws {Error} when the folder holds no synthesised app
 */
export async function readAssembly(folder: string): Promise<SynthesisedFunction[]> {
  const files = await readdir(folder).catch(() => []);
  const templates = files.filter((file) => file.endsWith('.template.json')).sort();
  if (templates.length === 0) throw new Error(`${folder} holds no synthesised app: run npm run synth first`);
  const stages = new Set(templates.map((file) => file.replace(/-[a-z]+\.template\.json$/, '')));
  if (stages.size > 1)
    throw new Error(`${folder} holds several stages: delete it and run npm run synth again`);
  const read = templates.map(async (file) => {
    const { Resources } = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
      Resources: Record<string, Resource>;
    };
    return functionsOf(Resources, folder);
  });
  return (await Promise.all(read)).flat();
}

function functionsOf(resources: Record<string, Resource>, root: string): SynthesisedFunction[] {
  return (
    Object.values(resources)
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => ({
        properties: Properties,
        roleId: (Properties.Role as { 'Fn::GetAtt': [string] })['Fn::GetAtt'][0],
      }))
      // What the CDK brings along to make a resource has no description.
      .filter(({ roleId }) => resources[roleId]?.Properties.Description !== undefined)
      .map(({ properties, roleId }) => {
        const environment = properties.Environment as { Variables: Record<string, unknown> } | undefined;
        return {
          folder: String(resources[roleId]?.Properties.Description).split(':', 1)[0] ?? '',
          // The CDK names both an asset's folder and its object by the hash.
          asset: join(root, `asset.${(properties.Code as { S3Key: string }).S3Key.replace(/\.zip$/, '')}`),
          handler: String(properties.Handler),
          timeoutSeconds: Number(properties.Timeout),
          memoryMb: Number(properties.MemorySize),
          variables: environment?.Variables ?? {},
          statements: statementsOf(resources, roleId),
          isTenanted: properties.TenancyConfig !== undefined,
        };
      })
  );
}

function statementsOf(resources: Record<string, Resource>, roleId: string): Statement[] {
  return Object.values(resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && isAttached(Properties, roleId))
    .flatMap(({ Properties }) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
}

function isAttached({ Roles }: Record<string, unknown>, roleId: string): boolean {
  return (Roles as { Ref?: string }[]).some(({ Ref }) => Ref === roleId);
}

/**
 * Given beside the template's variables: they lead the clients to this machine's engines, and say what differs on it.
 * Nothing of a function's own configuration is among them.
 */
const ofThisMachine = [
  ...[
    'DYNAMODB_ENDPOINT',
    'LAMBDA_ENDPOINT',
    'JOBS_ENDPOINT',
    'SES_ENDPOINT',
    'EVENTS_ENDPOINT',
    'SUBSCRIPTION_MEMORY_SECONDS',
    'ACCESS_LOG',
  ],
  ...['STAGE', 'PORTICO_ALLOW_LOOPBACK_HOOKS', ...Object.keys(localAws)],
];

/** What this machine says wins over a stage's setting: its address, its bounds, and sets of search parameters where it names some. */
const chosenHere = [
  'BASE_URL',
  'SEARCH_PARAMETERS',
  'FAILED_ADDRESSES',
  'ACCOUNT_CONCURRENCY',
  'TRUSTED_HOPS',
];

/** What the templates refer to and a laptop's stack has no name for. */
export const onlyOnAws = { SES_CONFIGURATION_SET: 'portico-local' };

/**
 * The variables of the template, but what CloudFront proves to them, which nobody does here: what it refers to has this machine's value, what it says stands as it is.
 * @throws {Error} for a reference to what this machine does not have
 */
export function variablesOf(
  { folder, variables }: Pick<SynthesisedFunction, 'folder' | 'variables'>,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = Object.entries(variables).filter(([name]) => name !== 'ORIGIN_SECRETS');
  const told = own.map(([name, said]) => {
    const literal = typeof said === 'string' ? said : undefined;
    const value = (chosenHere.includes(name) && values[name]) || (literal ?? values[name]);
    if (value === undefined) throw new Error(`${folder} needs ${name}, which a laptop has nothing for`);
    return [name, value];
  });
  const engines = ofThisMachine.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...told, ...engines]);
}

/** What SAM needs of a template: every value a text, because it resolves no value of another stack. */
export interface SamTemplate {
  AWSTemplateFormatVersion: '2010-09-09';
  Transform: 'AWS::Serverless-2016-10-31';
  Resources: Record<string, SamFunction>;
}

interface SamFunction {
  Type: 'AWS::Serverless::Function';
  Properties: {
    /** Relative to the template. */
    CodeUri: string;
    Handler: string;
    Runtime: 'nodejs24.x';
    Architectures: ['arm64' | 'x86_64'];
    Timeout: number;
    MemorySize: number;
    Environment: { Variables: Record<string, string> };
  };
}

/** `execute-by-id` → `ExecuteById`: what `sam local invoke` is given. */
export function samName(folder: string): string {
  return folder.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * One template with every function of a synthesised app, once each.
 * @param values what the templates refer to, as on this machine
 */
export function samTemplate(
  functions: readonly SynthesisedFunction[],
  values: Readonly<Record<string, string>>,
  architecture: 'arm64' | 'x86_64',
): SamTemplate {
  const resources = functions.map((one): [string, SamFunction] => [
    samName(one.folder),
    {
      Type: 'AWS::Serverless::Function',
      Properties: {
        ...{ CodeUri: `./${samName(one.folder)}`, Handler: one.handler, Runtime: 'nodejs24.x' },
        Architectures: [architecture],
        Timeout: one.timeoutSeconds,
        MemorySize: one.memoryMb,
        Environment: { Variables: one.folder === 'invoker' ? {} : variablesOf(one, values) },
      },
    },
  ]);
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Transform: 'AWS::Serverless-2016-10-31',
    Resources: Object.fromEntries(resources),
  };
}
