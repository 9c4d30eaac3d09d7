import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
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

/** SES as mails of a stage go through it, from one address. */
export class MailService extends Construct {
  readonly #set: ConfigurationSet;
  readonly #from: string;
  readonly #isSandbox: boolean;

  constructor(
    scope: Construct,
    id: string,
    { mailFrom, mailSandbox }: Pick<Stage, 'mailFrom' | 'mailSandbox'>,
  ) {
    super(scope, id);
    this.#isSandbox = mailSandbox;
    this.#from = mailFrom;
    this.#set = new ConfigurationSet(this, 'Mail', {
      reputationMetrics: true,
      suppressionReasons: SuppressionReasons.BOUNCES_AND_COMPLAINTS,
      // A mail holds a link that admits its reader.
      tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
    });
  }

  /** For the function that sends. */
  get environment(): Record<string, string> {
    return { MAIL_FROM: this.#from, SES_CONFIGURATION_SET: this.#set.configurationSetName };
  }

  /**
   * From the stage's address only, whether SES has verified the address or its domain. In its sandbox SES asks for
   * the right to the recipient's identity too, which no template can name: there it is to all of the account's.
   */
  sendStatement(): PolicyStatement {
    const ses = (resource: string) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
    return new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [
        ...(this.#isSandbox
          ? [ses('identity/*')]
          : [ses(`identity/${this.#from}`), ses(`identity/${this.#from.split('@')[1]}`)]),
        ses(`configuration-set/${this.#set.configurationSetName}`),
      ],
      conditions: { StringEquals: { 'ses:FromAddress': this.#from } },
    });
  }

  /** The one wildcard over identities, where the sandbox of SES needs it. */
  acknowledgeFor(role: IRole): void {
    if (!this.#isSandbox) return;
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]',
      reason:
        'In its sandbox SES authorises each recipient’s identity too. The sender is held by the condition, and ' +
        'the stage’s setting mailSandbox goes when SES leaves the sandbox.',
    });
  }

  /** Tells the function of bounces and complaints. */
  tell(lambda: IFunction): void {
    this.#set.addEventDestination('Events', {
      destination: EventDestination.eventBus(EventBus.fromEventBusName(this, 'Bus', 'default')),
      events: [EmailSendingEvent.BOUNCE, EmailSendingEvent.COMPLAINT],
    });
    const rule = new Rule(this, 'Undelivered', {
      description: 'Bounces and complaints are noted at the invitation',
      eventPattern: {
        source: ['aws.ses'],
        detail: {
          eventType: ['Bounce', 'Complaint'],
          mail: { tags: { 'ses:configuration-set': [this.#set.configurationSetName] } },
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
  }
  /** SES reviews accounts from 5 % bounces or 0.1 % complaints on, and may stop them from sending. */
  watchReputation(topic: ITopic): void {
    const rates = { BounceRate: 0.03, ComplaintRate: 0.0005 };
    for (const [rate, threshold] of Object.entries(rates)) {
      new ImpactAlarm(this, rate, {
        metric: new Metric({
          namespace: 'AWS/SES',
          metricName: `Reputation.${rate}`,
          dimensionsMap: { 'ses:configuration-set': this.#set.configurationSetName },
          statistic: 'Average',
          period: Duration.hours(1),
        }),
        threshold,
        impact:
          'Many mails come back or are reported as spam: SES may stop the account, and then nobody is invited.',
        runbook: 'mail-reputation',
        topic,
      });
    }
  }
}
