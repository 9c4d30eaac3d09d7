import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailSendingEvent,
  EventDestination,
  SuppressionReasons,
} from 'aws-cdk-lib/aws-ses';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import { ImpactAlarm } from './alarms.ts';
import { allow, type FunctionGrant } from './grants.ts';
import type { HouseFunction } from './house-function.ts';

/** SES as mails of a stage go through it, from one address. */
export function mailService(scope: Construct, { mailFrom, mailSandbox }: Stage) {
  const own = new Construct(scope, 'Ses');
  const made = new ConfigurationSet(own, 'Mail', {
    reputationMetrics: true,
    suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
    // A mail holds a link that admits its reader.
    tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
  });
  const set = made.configurationSetName;

  const identities = mailSandbox ? ['*'] : [mailFrom, String(mailFrom.split('@')[1])];
  const named = [...identities.map((one) => `identity/${one}`), `configuration-set/${set}`];
  const ses = `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:`;
  const fromHere = { StringEquals: { 'ses:FromAddress': mailFrom } };
  /**
   * For the function that sends: from the stage's address only, whether SES has verified the address or its domain. In
   * its sandbox SES asks for the right to the recipient's identity too, which no template can name: there it is to all of
   * the account's.
   */
  const sending: FunctionGrant = {
    environment: { MAIL_FROM: mailFrom, SES_CONFIGURATION_SET: set },
    statements: [
      allow(
        ['ses:SendEmail'],
        named.map((one) => `${ses}${one}`),
        fromHere,
      ),
    ],
  };

  /** Tells the function that sends of bounces and complaints, and people when there are many. */
  const tell = ({ lambda, role }: HouseFunction, alarms: ITopic): void => {
    // The one wildcard over identities, where the sandbox of SES needs it.
    if (mailSandbox) {
      Validations.of(role).acknowledge({
        id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]',
        reason:
          'In its sandbox SES authorises each recipient’s identity too. The sender is held by the condition, and ' +
          'the stage’s setting mailSandbox goes when SES leaves the sandbox.',
      });
    }
    made.addEventDestination('Events', {
      destination: EventDestination.eventBus(EventBus.fromEventBusName(own, 'Bus', 'default')),
      events: [EmailSendingEvent.BOUNCE, EmailSendingEvent.COMPLAINT],
    });
    const rule = new Rule(own, 'Undelivered', {
      description: 'Bounces and complaints are noted at the invitation',
      eventPattern: {
        source: ['aws.ses'],
        detail: {
          eventType: ['Bounce', 'Complaint'],
          mail: { tags: { 'ses:configuration-set': [set] } },
        },
      },
      targets: [new LambdaFunction(lambda, { retryAttempts: 5 })],
    });
    Validations.of(rule).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason:
        'Lambda takes the event into a queue of its own. Were it lost all the same, SES still has the address on ' +
        'its suppression list and in its metrics; the invitation stays pending until it is sent again or expires.',
    });
    // SES reviews accounts from 5 % bounces or 0.1 % complaints on, and may stop them from sending.
    const rates = { BounceRate: 0.03, ComplaintRate: 0.0005 };
    for (const [rate, threshold] of Object.entries(rates)) {
      new ImpactAlarm(own, rate, {
        metric: new Metric({
          namespace: 'AWS/SES',
          metricName: `Reputation.${rate}`,
          dimensionsMap: { 'ses:configuration-set': set },
          statistic: 'Average',
          period: Duration.hours(1),
        }),
        threshold,
        impact:
          'Many mails come back or are reported as spam: SES may stop the account, and then nobody is invited.',
        runbook: 'mail-reputation',
        topic: alarms,
      });
    }
  };
  return { sending, tell };
}
