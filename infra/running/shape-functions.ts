import type { IAspect } from 'aws-cdk-lib';
import { Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { HouseFunction } from '../constructs/house-function.ts';
import type { Stage } from '../stage.ts';
import { reservedFor } from './concurrency.ts';

/** Gives every function its share of the account's concurrency, where there is enough of it. */
export class ConcurrencyShared implements IAspect {
  readonly #accountConcurrency: number;

  constructor({ accountConcurrency }: Pick<Stage, 'accountConcurrency'>) {
    this.#accountConcurrency = accountConcurrency;
  }

  visit(node: IConstruct): void {
    if (!(node instanceof CfnFunction)) return;
    const house = node.node.scope?.node.scope;
    const reserved =
      house instanceof HouseFunction ? reservedFor(house.folder, this.#accountConcurrency) : undefined;
    if (reserved !== undefined) node.reservedConcurrentExecutions = reserved;
  }
}

/** Has functions that work on the table count figures under the stage's name and theirs. */
export function measureFunctions(app: IConstruct, { name }: Pick<Stage, 'name'>): void {
  for (const house of app.node.findAll()) {
    if (house instanceof HouseFunction && house.usesTable) {
      house.lambda.addEnvironment('METRICS', `${name}/${house.folder}`);
    }
  }
}

/**
 * Has X-Ray follow requests through the functions. Not through the invokers: whoever ran code there could write
 * traces. X-Ray has no resource to name, so each role is given its two actions on all there is.
 */
export function traceFunctions(app: IConstruct): void {
  for (const house of app.node.findAll()) {
    if (!(house instanceof HouseFunction) || house.folder === 'invoker') continue;
    const { defaultChild } = house.lambda.node;
    if (defaultChild instanceof CfnFunction) defaultChild.tracingConfig = { mode: 'Active' };
    house.role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
        resources: ['*'],
      }),
    );
    Validations.of(house.role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray’s actions for writing name no resource.',
    });
  }
}
