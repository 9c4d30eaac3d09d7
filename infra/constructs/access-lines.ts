import { Aws } from 'aws-cdk-lib';
import { CfnSubscriptionFilter, FilterPattern } from 'aws-cdk-lib/aws-logs';
import { accessMessage } from '../../shared/access-log.ts';
import { accessRecordsName, type Stage } from '../stage.ts';
import type { HouseFunction } from './house-function.ts';

/** The lines of a function of the API: with the addresses of its callers, if the stage has a key for them. */
export function keepCallersLines(house: HouseFunction, stage: Stage): void {
  if (stage.sourceKey !== undefined) {
    house.lambda.addEnvironment('SOURCE_KEY', stage.sourceKey);
    house.lambda.addEnvironment('TRUSTED_HOPS', String(stage.trustedHops));
  }
  keepAccessLines(house, stage);
}

/** Brings the lines of the access log from a function's log to where they are kept. */
export function keepAccessLines(house: HouseFunction, stage: Stage): void {
  new CfnSubscriptionFilter(house, 'Access', {
    logGroupName: house.logGroup.logGroupName,
    filterPattern: FilterPattern.stringValue('$.message', '=', accessMessage).logPatternString,
    // By its name, so that no stack exports it.
    destinationArn: `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:${accessRecordsName(stage)}`,
  });
}
