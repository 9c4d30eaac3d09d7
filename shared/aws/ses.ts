import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { Mailer } from '../email/mailer.ts';

interface SesOptions {
  /** The stage's own address, verified with SES. */
  from: string;
  configurationSet: string | undefined;
  /** For a local mailbox only. */
  endpoint: string | undefined;
}

/** Mail by Amazon SES v2. SES builds the headers, so nothing of a name can become one. */
export function sesMailer({ from, configurationSet, endpoint }: SesOptions): Mailer {
  const ses = new SESv2Client({ maxAttempts: 2, ...(endpoint ? { endpoint } : {}) });
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
