import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { XMLParser } from 'fast-xml-parser';
import { createSigner } from '../../shared/aws/wire/transport.ts';
import { fieldsOf } from '../../shared/base/values.ts';

/** What the account that a stage is deployed to says of its alarms. */
export interface Account {
  /** Invokes a function. @returns whether it failed */
  invoke(functionName: string, payload: object): Promise<boolean>;
  /** The alarms whose names begin so. */
  alarms(prefix: string): Promise<AlarmState[]>;
  /** What became of an alarm's actions since then, the newest first: a sentence of CloudWatch's each. */
  actions(alarmName: string, sinceMs: number): Promise<string[]>;
  /** Who is told by a topic: `email: PendingConfirmation`, or the ARN of a subscription that was confirmed. */
  subscribers(topicArn: string): Promise<string[]>;
}

interface AlarmState {
  name: string;
  state: string;
  description: string;
  /** ARNs. */
  actions: string[];
}

/** @throws {Error} where the environment names no credentials */
export async function accountIn(region: string): Promise<Account> {
  const lambda = new LambdaClient({ region, maxAttempts: 2 });
  await lambda.config.credentials();

  /** The Query API: a form in, XML out. @returns the fields of its result */
  async function ask(service: 'monitoring' | 'sns', fields: Record<string, string>): Promise<Fields> {
    const variable = service === 'sns' ? 'AWS_ENDPOINT_URL_SNS' : 'AWS_ENDPOINT_URL_CLOUDWATCH';
    const url = new URL(process.env[variable] ?? `https://${service}.${region}.amazonaws.com`);
    const body = new URLSearchParams(fields).toString();
    const headers = { host: url.host, 'content-type': 'application/x-www-form-urlencoded' };
    const sign = createSigner(service, region);
    const request = { method: 'POST', path: '/', headers, body };
    const signed = sign(request, await lambda.config.credentials(), Date.now());
    const response = await fetch(url, { method: 'POST', headers: { ...headers, ...signed }, body });
    const said = fieldsOf(xml.parse(await response.text()));
    const { Action } = fields;
    if (response.ok) return fieldsOf(fieldsOf(said[`${Action}Response`])[`${Action}Result`]);
    const { Message = response.status } = fieldsOf(fieldsOf(said.ErrorResponse).Error);
    throw new Error(`${Action}: ${Message}`);
  }
  const monitoring = (Action: string, fields: Record<string, string>) =>
    ask('monitoring', { Action, Version: '2010-08-01', ...fields });

  return {
    async invoke(functionName, payload) {
      const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) });
      return (await lambda.send(command)).FunctionError !== undefined;
    },
    async alarms(prefix) {
      const { MetricAlarms } = await monitoring('DescribeAlarms', { AlarmNamePrefix: prefix });
      return membersOf(MetricAlarms).map((alarm) => ({
        name: String(alarm.AlarmName),
        state: String(alarm.StateValue),
        description: String(alarm.AlarmDescription ?? ''),
        actions: listed(alarm.AlarmActions).map(String),
      }));
    },
    async actions(AlarmName, sinceMs) {
      const StartDate = new Date(sinceMs).toISOString();
      const { AlarmHistoryItems } = await monitoring('DescribeAlarmHistory', {
        ...{ AlarmName, HistoryItemType: 'Action', StartDate },
        ScanBy: 'TimestampDescending',
      });
      return membersOf(AlarmHistoryItems).map(({ HistorySummary }) => String(HistorySummary));
    },
    async subscribers(TopicArn) {
      const asked = { Action: 'ListSubscriptionsByTopic', Version: '2010-03-31', TopicArn };
      const { Subscriptions } = await ask('sns', asked);
      return membersOf(Subscriptions).map(
        ({ Protocol, SubscriptionArn }) => `${Protocol}: ${SubscriptionArn}`,
      );
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

const xml = new XMLParser({ isArray: (name) => name === 'member', parseTagValue: false });

function listed(list: unknown): unknown[] {
  const { member } = fieldsOf(list);
  return Array.isArray(member) ? member : [];
}

function membersOf(list: unknown): Fields[] {
  return listed(list).map(fieldsOf);
}
