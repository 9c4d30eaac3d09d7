import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
