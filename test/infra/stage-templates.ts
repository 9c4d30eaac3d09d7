import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { projectContext } from '../../infra/context.ts';
import { porticoStacks } from '../../infra/stacks/portico.ts';
import { readStage } from '../../infra/stage.ts';

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

/** The templates of a stage with these settings, synthesised without bundling anything. */
export function stageTemplates(settings: Record<string, unknown> = {}) {
  const context: Record<string, unknown> = {
    ...projectContext(),
    stage: 'test',
    stages: { test: { region: 'eu-west-1', mailFrom: 'portico@example.org', ...settings } },
    'aws:cdk:bundling-stacks': [],
  };
  const stacks = porticoStacks(
    new App({ context }),
    readStage((key) => context[key]),
  );
  const resources = (stack: keyof typeof stacks) =>
    Template.fromStack(stacks[stack]).toJSON().Resources as Record<string, Resource>;
  return {
    data: resources('data'),
    sandbox: resources('sandbox'),
    api: resources('api'),
    events: resources('events'),
    provision: resources('provision'),
    reindex: resources('reindex'),
  };
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
