import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A resource of a template, as CloudFormation gets it. */
export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
}

export interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

type Stack =
  | 'data'
  | 'network'
  | 'edge'
  | 'sandbox'
  | 'api'
  | 'events'
  | 'provision'
  | 'reindex'
  | 'access'
  | 'watch';

/** A template, as far as tests look at it. */
export interface StackTemplate {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: { Name: string } }>;
}

/** The resources of a stage with these settings, by stack. */
export function stageTemplates(
  settings: Record<string, unknown> = {},
): Record<Stack, Record<string, Resource>> {
  return resourcesOf(wholeTemplates(settings));
}

export function resourcesOf(
  templates: Record<Stack, StackTemplate>,
): Record<Stack, Record<string, Resource>> {
  const named = Object.entries(templates).map(([name, { Resources }]) => [name, Resources]);
  return Object.fromEntries(named) as ReturnType<typeof resourcesOf>;
}

/** The templates of a stage with these settings, by stack; of several files that ask for the same, one makes them. */
export function wholeTemplates(settings: Record<string, unknown> = {}): Record<Stack, StackTemplate> {
  const asked = JSON.stringify(settings);
  const name = `${createHash('sha256').update(asked).digest('hex')}.json`;
  const kept = join(String(process.env.PORTICO_TEMPLATES), name);
  if (!existsSync(kept)) {
    // Renamed when it is whole: another worker may look for it meanwhile.
    const whole = `${kept}.${process.pid}`;
    writeFileSync(whole, synthesised(asked));
    renameSync(whole, kept);
  }
  return JSON.parse(readFileSync(kept, 'utf8'));
}

/** In a process of its own: within jest the CDK takes ten times as long to load. */
function synthesised(settings: string): string {
  const program = join(import.meta.dirname, 'print-templates.ts');
  const args = ['--disable-warning=ExperimentalWarning', program, settings];
  const options = {
    maxBuffer: 64 * 1024 ** 2,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  } as const;
  return execFileSync(process.execPath, args, options);
}

/** The resources of one type, by logical id. */
export function ofType(resources: Record<string, Resource>, type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, resource]) => resource.Type === type);
}

/** The only resource of a type. */
export function only(resources: Record<string, Resource>, type: string): Resource & { id: string } {
  const [first, ...others] = ofType(resources, type);
  if (!first || others.length > 0) throw new Error(`Expected one ${type}, found ${first ? 'more' : 'none'}`);
  return { id: first[0], ...first[1] };
}

/** What the policies attached to a role allow. */
export function statementsOfRole(resources: Record<string, Resource>, roleId: string): Statement[] {
  return ofType(resources, 'AWS::IAM::Policy')
    .filter(([, { Properties }]) => (Properties.Roles as { Ref: string }[]).some(({ Ref }) => Ref === roleId))
    .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
}

/** Every action that the statements name. */
export function actionsOf(statements: readonly Statement[]): string[] {
  return statements.flatMap(({ Action }) => Action).sort();
}

/** The functions of a template with the logical id of the role each runs as. */
export function functionsOf(resources: Record<string, Resource>) {
  return ofType(resources, 'AWS::Lambda::Function').map(([id, { Properties }]) => ({
    id,
    properties: Properties,
    roleId: (Properties.Role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'][0],
  }));
}
