import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, ServerlessChecks } from 'cdk-nag';
import { projectContext } from './context.ts';
import { porticoStacks } from './stacks/portico.ts';
import { readStage } from './stage.ts';

const app = new App({ context: projectContext(), analyticsReporting: false });
const _stacks = porticoStacks(
  app,
  readStage((key) => app.node.tryGetContext(key)),
);
Validations.of(app).addPlugins(
  new AwsSolutionsChecks(app),
  new HIPAASecurityChecks(app),
  new NIST80053R5Checks(app),
  new ServerlessChecks(app),
);
