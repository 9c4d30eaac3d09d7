import { Aws } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailSendingEvent,
  EventDestination,
  SuppressionReasons,
} from 'aws-cdk-lib/aws-ses';
import { Construct } from 'constructs';

/** SES as mails of a stage go through it, from one address. */
export class MailService extends Construct {
  readonly #set: ConfigurationSet;
  readonly #from: string;

  constructor(scope: Construct, id: string, { mailFrom }: { mailFrom: string }) {
    super(scope, id);
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

  /** From the stage's address only, whether SES has verified the address or its domain. */
  sendStatement(): PolicyStatement {
    const ses = (resource: string) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
    return new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [
        ses(`identity/${this.#from}`),
        ses(`identity/${this.#from.split('@')[1]}`),
        ses(`configuration-set/${this.#set.configurationSetName}`),
      ],
      conditions: { StringEquals: { 'ses:FromAddress': this.#from } },
    });
  }

  /** Tells the function of bounces and complaints. */
  tell(lambda: IFunction): void {
    this.#set.addEventDestination('Events', {
      destination: EventDestination.eventBus(EventBus.fromEventBusName(this, 'Bus', 'default')),
      events: [EmailSendingEvent.BOUNCE, EmailSendingEvent.COMPLAINT],
    });
    new Rule(this, 'Undelivered', {
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
  }
}
