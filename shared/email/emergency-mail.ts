import { letter } from './letter.ts';
import type { Mail } from './mailer.ts';

/**
 * Tells that somebody has taken emergency access. It does not tell why: what people write in haste may name a patient,
 * and a mail is no place for that.
 * @param input.name of the person who took it
 * @param input.isTheirs whether it goes to that person
 */
export function emergencyMail(input: {
  to: string;
  isTheirs: boolean;
  name: string;
  projectName: string;
  senderName: string;
  untilMs: number;
  url: string;
}): Mail {
  const { to, isTheirs, name, projectName, senderName, untilMs, url } = input;
  const until = `${new Date(untilMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return {
    to,
    senderName,
    subject: isTheirs
      ? `You have emergency access in ${projectName}`
      : `Emergency access was taken in ${projectName}`,
    ...letter({
      lines: isTheirs
        ? [
            'Hello,',
            `you have taken emergency access in ${projectName}. It ends at ${until}, or as soon as you end it.`,
            'Everything that you read and change until then is recorded.',
          ]
        : [
            'Hello,',
            `${name} has taken emergency access in ${projectName}. It ends at ${until}; you can end it at once.`,
            'The audit log has the reason that was given, and what was read and changed.',
          ],
      action: isTheirs ? 'Open the app' : 'Look at it',
      url,
      closing: isTheirs
        ? 'If it was not you, choose a new password and tell the administrators of your project at once.'
        : 'You get this mail as an administrator of the project, whenever somebody takes emergency access.',
    }),
  };
}
