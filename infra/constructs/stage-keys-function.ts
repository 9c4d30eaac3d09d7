import { CfnCustomResource } from 'aws-cdk-lib';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { keyPurposes } from '../../shared/keys/purposes.ts';
import { permissions } from '../permissions.ts';
import { type Stage, stageKeysName } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { environmentOf, type Ground, statementsOf } from './grants.ts';
import { HouseFunction } from './house-function.ts';

interface StageKeysFunctionProps {
  stage: Stage;
  ground: Ground;
  alarms: ITopic;
}

/**
 * Makes the secret keys of the stage, one for each purpose. CloudFormation calls it before it makes or changes the
 * functions that open them, and again when there is another purpose or the table is another one.
 */
export class StageKeysFunction extends HouseFunction {
  readonly #made: CfnCustomResource;

  constructor(scope: Construct, id: string, { stage, ground, alarms }: StageKeysFunctionProps) {
    super(scope, id, {
      folder: 'stage-keys',
      functionName: stageKeysName(stage),
      description: 'Makes the secret keys of the stage',
      timeoutSeconds: timeoutSeconds.short,
      memoryMb: 1024,
      environment: environmentOf(permissions['stage-keys'], ground),
      statements: statementsOf(permissions['stage-keys'], ground),
      impact: 'Keys of the stage were not made or replaced. Whoever deployed or called was told why.',
      alarms,
    });
    this.#made = new CfnCustomResource(this, 'Made', {
      serviceToken: this.lambda.functionArn,
      serviceTimeout: timeoutSeconds.stageKeysMade,
    });
    this.#made.addPropertyOverride('Purposes', keyPurposes);
    this.#made.addPropertyOverride('Table', ground.table.tableName);
  }

  /**
   * What opens keys is made and changed when they are there. So is its role: code of an earlier release, which opens the
   * one secret for all purposes, keeps its right until it is about to be replaced.
   */
  goesBefore({ lambda, role }: HouseFunction): void {
    for (const { node } of [lambda, role]) node.addDependency(this.#made);
  }
}
