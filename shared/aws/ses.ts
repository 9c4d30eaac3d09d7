import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { Mailer } from '../identity/mail/letters.ts';
import { createExchanger, leanClient, type Patience } from './wire/transport.ts';

interface SesOptions {
  /** The stage's own address, verified with SES. */
  from: string;
  configurationSet: string | undefined;
  /** For a local mailbox only. */
  endpoint: string | undefined;
  /** How long SES is waited for; what is usual when left out. */
  patience?: Patience;
}

/** Two attempts fit well into the function's 50 s, so that it gives its claim back itself. */
const usualPatience: Patience = { connectMs: 2_000, answerMs: 10_000 };

/**
 * Mail by Amazon SES v2. SES builds the headers, so nothing of a name can become one. A request that hangs fails with
 * TimeoutError after a second attempt: SES may have taken the mail, which then comes twice rather than never.
 */
export function sesMailer({
  from,
  configurationSet,
  endpoint,
  patience = usualPatience,
}: SesOptions): Mailer {
  const ses = leanClient('ses', SESv2Client, createExchanger(patience), { maxAttempts: 2, endpoint });
  return {
    async send({ to, senderName, subject, text, html, tags = {} }) {
      await ses.send(
        new SendEmailCommand({
          FromEmailAddress: senderName === '' ? from : `${encodedWord(senderName)} <${from}>`,
          Destination: { ToAddresses: [to] },
          Content: {
            Simple: {
              Subject: { Data: subject, Charset: 'UTF-8' },
              Body: { Text: { Data: text, Charset: 'UTF-8' }, Html: { Data: html, Charset: 'UTF-8' } },
            },
          },
          EmailTags: Object.entries(tags).map(([Name, Value]) => ({ Name, Value })),
          ...(configurationSet ? { ConfigurationSetName: configurationSet } : {}),
        }),
      );
    },
  };
}

/** RFC 2047 encoded-words of at most 75 characters: any name, without a character that means something. */
function encodedWord(name: string): string {
  const words: string[] = [];
  let part = '';
  for (const character of name) {
    if (Buffer.byteLength(part + character) > 42) {
      words.push(part);
      part = '';
    }
    part += character;
  }
  return [...words, part].map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
}
