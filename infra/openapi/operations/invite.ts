import { array, maxLength, pipe } from 'valibot';
import type { routes } from '../../../functions/routes.ts';
import { mostBulkRows } from '../../../shared/invitation/bulk-columns.ts';
import { inviteBody } from '../../../shared/invitation/parse-invite.ts';
import { answersFhir, answersJson, idempotent, json, refused, type Words } from '../words.ts';

export const invite: Record<keyof typeof routes.invite, Words> = {
  invite: {
    summary: 'Invite a person: User, profile, membership and mail in one transaction',
    headers: idempotent,
    body: json(inviteBody),
    answers: {
      200: answersFhir('ProjectMembership', 'The membership with the state of its invitation'),
      409: refused('The person is a member already, or was invited otherwise at the same time'),
      429: refused('The Project has invited too many within the hour'),
    },
  },
  inviteMany: {
    summary: 'Invite many, row by row',
    headers: idempotent,
    body: {
      content: {
        'application/json': pipe(array(inviteBody), maxLength(mostBulkRows)),
        'text/csv': { type: 'string', description: 'With a header row that names the fields' },
      },
    },
    answers: { 200: answersJson('BulkAnswer', 'What became of each row') },
  },
};
