import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetAccountCommand, GetEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import type { AccountFacts } from './findings.ts';

/**
 * Asks SES and Lambda of the account that the credentials name. What may not be asked is undefined.
 * @throws {Error} when there are no credentials, in words
 */
export async function askAccount({
  region,
  mailFrom,
}: {
  region: string;
  mailFrom: string;
}): Promise<AccountFacts> {
  const ses = new SESv2Client({ region, maxAttempts: 2 });
  const lambda = new LambdaClient({ region, maxAttempts: 2 });
  await lambda.config.credentials().catch((error: Error) => {
    throw new Error(
      `${error.message}: set AWS_ACCESS_KEY_ID and its like, or name a profile (npm run deploy -- --profile <name>)`,
    );
  });
  const isVerified = (EmailIdentity: string) =>
    ses
      .send(new GetEmailIdentityCommand({ EmailIdentity }))
      .then(({ VerifiedForSendingStatus }) => VerifiedForSendingStatus === true)
      .catch((error: Error) => (error.name === 'NotFoundException' ? false : undefined));
  const [address, domain, mailSandbox, concurrency] = await Promise.all([
    isVerified(mailFrom),
    isVerified(mailFrom.slice(mailFrom.indexOf('@') + 1)),
    ses.send(new GetAccountCommand({})).then(
      ({ ProductionAccessEnabled }) => ProductionAccessEnabled !== true,
      () => undefined,
    ),
    lambda.send(new GetAccountSettingsCommand({})).then(
      ({ AccountLimit }) => AccountLimit?.ConcurrentExecutions,
      () => undefined,
    ),
  ]);
  const senderVerified = address || domain ? true : address === undefined ? domain : address;
  return { senderVerified, mailSandbox, concurrency };
}
