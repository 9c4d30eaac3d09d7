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
  Properties: {
    Description?: string;
    Role: { 'Fn::GetAtt': [string] };
    Code: { S3Key: string };
    Handler: string;
    Timeout: number;
    MemorySize: number;
    Environment?: { Variables: Record<string, unknown> };
    TenancyConfig?: object;
    Roles: { Ref?: string }[];
    PolicyDocument: { Statement: Statement[] };
  };
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
  const texts = await Promise.all(templates.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((text) => functionsOf(JSON.parse(text).Resources, folder));
}

function functionsOf(resources: Record<string, Resource>, root: string): SynthesisedFunction[] {
  const ofType = (type: string) =>
    Object.values(resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));
  return ofType('AWS::Lambda::Function').flatMap((properties) => {
    const [roleId] = properties.Role['Fn::GetAtt'];
    const description = resources[roleId]?.Properties.Description;
    // What the CDK brings along to make a resource has no description.
    if (description === undefined) return [];
    const policies = ofType('AWS::IAM::Policy').filter(({ Roles }) =>
      Roles.some(({ Ref }) => Ref === roleId),
    );
    return {
      folder: description.split(':', 1)[0] ?? '',
      // The CDK names both an asset's folder and its object by the hash.
      asset: join(root, `asset.${properties.Code.S3Key.replace(/\.zip$/, '')}`),
      handler: properties.Handler,
      timeoutSeconds: properties.Timeout,
      memoryMb: properties.MemorySize,
      variables: properties.Environment?.Variables ?? {},
      statements: policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
      isTenanted: properties.TenancyConfig !== undefined,
    };
  });
}

/**
 * Given beside the template's variables: they lead the clients to this machine's engines, and say what differs on it.
 * Nothing of a function's own configuration is among them.
 */
const ofThisMachine = [
  ...['DYNAMODB', 'LAMBDA', 'JOBS', 'SES', 'EVENTS'].map((service) => `${service}_ENDPOINT`),
  ...['SUBSCRIPTION_MEMORY_SECONDS', 'ACCESS_LOG', 'STAGE', 'PORTICO_ALLOW_LOOPBACK_HOOKS'],
  ...Object.keys(localAws),
];

/** What this machine says wins over a stage's setting: its address, its bounds, and sets of search parameters where it names some. */
const chosenHere = /^(?:BASE_URL|SEARCH_PARAMETERS|FAILED_ADDRESSES|ACCOUNT_CONCURRENCY|TRUSTED_HOPS)$/;

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
  const given: Record<string, string> = {};
  for (const [name, said] of Object.entries(variables)) {
    if (name === 'ORIGIN_SECRETS') continue;
    const here = values[name];
    const value = (chosenHere.test(name) && here) || (typeof said === 'string' ? said : here);
    if (value === undefined) throw new Error(`${folder} needs ${name}, which a laptop has nothing for`);
    given[name] = value;
  }
  for (const name of ofThisMachine) {
    const value = values[name];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** `execute-by-id` → `ExecuteById`: what `sam local invoke` is given. */
export function samName(folder: string): string {
  return folder.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}
