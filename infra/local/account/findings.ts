/** What the account says that a stage is deployed to; undefined where its credentials may not ask. */
export interface AccountFacts {
  /** Whether SES has verified the stage's sender or its domain. */
  senderVerified: boolean | undefined;
  /** SES sends to verified addresses only. */
  mailSandbox: boolean | undefined;
  /** Lambda functions that may run at once. */
  concurrency: number | undefined;
}

/** Below it the alarms and the API's functions alone leave hardly a run of a Bot. */
const littleConcurrency = 100;

/**
 * What whoever deploys should know before the first invitation, a sentence each; none when all is well.
 * No I/O.
 */
export function findings(
  facts: AccountFacts,
  stage: { name: string; mailFrom: string; region: string; mailSandbox: boolean },
): string[] {
  const { senderVerified, mailSandbox, concurrency } = facts;
  const unknown = Object.values(facts).includes(undefined)
    ? [
        'Not all could be looked at: it needs ses:GetEmailIdentity, ses:GetAccount and lambda:GetAccountSettings.',
      ]
    : [];
  return [
    ...(senderVerified === false
      ? [
          `No mail will be sent: SES in ${stage.region} has not verified ${stage.mailFrom} or its domain. ` +
            `aws sesv2 create-email-identity --region ${stage.region} --email-identity ${stage.mailFrom}`,
        ]
      : []),
    ...(mailSandbox === true && !stage.mailSandbox
      ? [
          'SES is in its sandbox, and asks for rights to each recipient: no mail will be sent. Ask for production ' +
            `access, or set "mailSandbox": true for ${stage.name} in cdk.json and verify every recipient.`,
        ]
      : []),
    ...(mailSandbox === true && stage.mailSandbox
      ? ['SES is in its sandbox: people whose addresses are not verified there get no mail.']
      : []),
    ...(mailSandbox === false && stage.mailSandbox
      ? [
          `SES has left its sandbox: take "mailSandbox" off ${stage.name} in cdk.json, it grants more than is needed.`,
        ]
      : []),
    ...(concurrency !== undefined && concurrency < littleConcurrency
      ? [
          `${concurrency} functions may run at once in this account, and a run of a Bot takes two: ` +
            `${Math.floor(concurrency / 2)} Bots. Ask for 1,000 (Service Quotas, Lambda, concurrent executions).`,
        ]
      : []),
    ...unknown,
  ];
}
