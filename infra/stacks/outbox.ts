import { Aws, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailSendingEvent,
  EventDestination,
  SuppressionReasons,
} from 'aws-cdk-lib/aws-ses';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { environmentOf, type Ground, statementsOf } from '../constructs/grants.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { LogAlarm } from '../constructs/log-alarm.ts';
import { OutboxStream } from '../constructs/outbox-stream.ts';
import { permissions } from '../permissions.ts';
import type { Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface OutboxStackProps extends StackProps {
  stage: Stage;
  ground: Ground;
  alarms: ITopic;
}

/** Mail goes out after the commit: fed by the table's stream, swept every ten minutes. */
export class OutboxStack extends Stack {
  constructor(scope: Construct, id: string, { stage, ground, alarms, ...props }: OutboxStackProps) {
    super(scope, id, props);
    const mail = new ConfigurationSet(this, 'Mail', {
      reputationMetrics: true,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
      // A mail holds a link that admits its reader.
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
    });
    const outbox = new HouseFunction(this, 'Outbox', {
      folder: 'outbox',
      description: 'Sends the mail that transactions have left to be sent',
      timeoutSeconds: timeoutSeconds.outbox,
      memoryMb: 512,
      environment: {
        ...environmentOf(permissions.outbox, ground),
        MAIL_FROM: stage.mailFrom,
        SES_CONFIGURATION_SET: mail.configurationSetName,
      },
      statements: [
        ...statementsOf(permissions.outbox, ground),
        sendStatement(stage.mailFrom, mail.configurationSetName),
      ],
      impact: 'Invited people get no mail. Nothing is lost: it waits in the outbox until this works again.',
      alarms,
    });
    new OutboxStream(this, 'Stream', { table: ground.table, consumer: outbox, alarms });
    new Rule(this, 'Sweep', {
      description: 'Mail that could not be sent is tried again',
      schedule: Schedule.rate(Duration.minutes(10)),
      targets: [new LambdaFunction(outbox.lambda, { retryAttempts: 0 })],
    });
    mail.addEventDestination('Events', {
      destination: EventDestination.eventBus(EventBus.fromEventBusName(this, 'Bus', 'default')),
      events: [EmailSendingEvent.BOUNCE, EmailSendingEvent.COMPLAINT],
    });
    new Rule(this, 'Undelivered', {
      description: 'Bounces and complaints are noted at the invitation',
      eventPattern: {
        source: ['aws.ses'],
        detail: {
          eventType: ['Bounce', 'Complaint'],
          mail: { tags: { 'ses:configuration-set': [mail.configurationSetName] } },
        },
      },
      targets: [new LambdaFunction(outbox.lambda, { retryAttempts: 5 })],
    });
    new LogAlarm(outbox, 'Unsent', {
      logGroup: outbox.logGroup,
      message: 'mail not sent',
      impact:
        'The mail service refused invitations: those people wait. Every ten minutes they are tried again. ' +
        'Look whether SES has verified the sender and left its sandbox.',
      alarms,
    });
  }
}

/** From the stage's address only, whether SES has verified the address or its domain. */
function sendStatement(mailFrom: string, configurationSet: string): PolicyStatement {
  const ses = (resource: string) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
  return new PolicyStatement({
    actions: ['ses:SendEmail'],
    resources: [
      ses(`identity/${mailFrom}`),
      ses(`identity/${mailFrom.split('@')[1]}`),
      ses(`configuration-set/${configurationSet}`),
    ],
    conditions: { StringEquals: { 'ses:FromAddress': mailFrom } },
  });
}
