import { Aws, Stack, type StackProps } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LoggingFormat, SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { HouseFunction } from '../constructs/house-function.ts';
import { accessRecordsName, type Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface AccessStackProps extends StackProps {
  stage: Stage;
  alarms: ITopic;
}

/**
 * Who called and who looked at what, in a log group of its own: that of a function which prints the lines that
 * CloudWatch brings it from the logs of the API's functions. So no request waits for a log, and no function of the
 * API may write to this one.
 */
export class AccessStack extends Stack {
  constructor(scope: Construct, id: string, { stage, alarms, ...props }: AccessStackProps) {
    super(scope, id, props);
    const { lambda } = new HouseFunction(this, 'AccessRecords', {
      folder: 'access-records',
      functionName: accessRecordsName(stage),
      description: 'Keeps who called and who looked at what',
      timeoutSeconds: timeoutSeconds.short,
      memoryMb: 256,
      keptAs: 'access',
      // No lines of Lambda's own between the records.
      logging: { loggingFormat: LoggingFormat.JSON, systemLogLevelV2: SystemLogLevel.WARN },
      impact:
        'Records of who looked at what are late in their log, or are not copied there. They are in the logs of the ' +
        'functions, as entries `access`, for as long as the stage keeps those: copy what is missing from there.',
      alarms,
    });
    lambda.addPermission('Logs', {
      principal: new ServicePrincipal('logs.amazonaws.com'),
      sourceArn: `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:portico-${stage.name}-*:*`,
      sourceAccount: Aws.ACCOUNT_ID,
    });
  }
}
