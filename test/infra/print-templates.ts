/** Writes the templates of each stage of `stages.ts`, synthesised without bundling: `node print-templates.ts <folder>`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { projectContext } from '../../infra/context.ts';
import { porticoStacks } from '../../infra/stacks/portico.ts';
import { readStage } from '../../infra/stage.ts';
import { stages } from './stages.ts';

const [, , folder = '.'] = process.argv;
for (const [name, settings] of Object.entries(stages)) {
  const context: Record<string, unknown> = {
    ...projectContext(),
    stage: 'test',
    stages: { test: { region: 'eu-west-1', mailFrom: 'portico@example.org', ...settings } },
    'aws:cdk:bundling-stacks': [],
  };
  const stacks = porticoStacks(
    // `npm run synth` checks them, and `network-options` those of a stage with every setting.
    new App({ context, builtinCloudFormationValidation: false, stackTraces: false, treeMetadata: false }),
    readStage((key) => context[key]),
  );
  const templates = Object.entries(stacks).map(([stack, made]) => [stack, Template.fromStack(made).toJSON()]);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(Object.fromEntries(templates)));
}
