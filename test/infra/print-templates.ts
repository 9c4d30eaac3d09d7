/** Prints the template of each stack of a stage, synthesised without bundling: `node print-templates.ts '{…}'`. */

import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { projectContext } from '../../infra/context.ts';
import { porticoStacks } from '../../infra/stacks/portico.ts';
import { readStage } from '../../infra/stage.ts';

const settings = JSON.parse(process.argv[2] ?? '{}');
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
const templates = Object.entries(stacks).map(([name, stack]) => [name, Template.fromStack(stack).toJSON()]);
process.stdout.write(JSON.stringify(Object.fromEntries(templates)));
