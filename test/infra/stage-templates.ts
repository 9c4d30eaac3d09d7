import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { StageName } from './stages.ts';

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

/** The resources of a stage, by stack. */
export function stageTemplates(stage: StageName = 'plain'): Record<Stack, Record<string, Resource>> {
  return resourcesOf(wholeTemplates(stage));
}

export function resourcesOf(
  templates: Record<Stack, StackTemplate>,
): Record<Stack, Record<string, Resource>> {
  const named = Object.entries(templates).map(([name, { Resources }]) => [name, Resources]);
  return Object.fromEntries(named) as ReturnType<typeof resourcesOf>;
}

/** The templates of a stage, by stack; of several files that ask for some, one makes them all. */
export function wholeTemplates(stage: StageName = 'plain'): Record<Stack, StackTemplate> {
  const kept = process.env.PORTICO_TEMPLATES ?? join(tmpdir(), `portico-templates-${process.pid}`);
  const whole = join(kept, 'whole');
  // Another worker may be making them.
  while (!existsSync(whole)) {
    if (isFirst(`${whole}.part`)) make(whole);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return JSON.parse(readFileSync(join(whole, `${stage}.json`), 'utf8'));
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** In a process of its own: within jest the CDK takes ten times as long to load. */
function make(whole: string): void {
  const part = `${whole}.part`;
  const program = join(import.meta.dirname, 'print-templates.ts');
  const env = { ...process.env, NODE_OPTIONS: '' };
  try {
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', program, part], { env });
    renameSync(part, whole);
  } catch (error) {
    rmSync(part, { recursive: true });
    throw error;
  }
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
