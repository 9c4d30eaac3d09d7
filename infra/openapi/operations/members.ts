import { array, maxLength, pipe } from 'valibot';
import { mostBulkRows } from '../../../shared/identity/invitations/bulk-columns.ts';
import { inviteBody } from '../../../shared/identity/invitations/parse-invite.ts';
import { issuerBody } from '../../../shared/identity/issuers/issuer.ts';
import { changeClientBody, rotateSecretBody } from '../../../shared/identity/memberships/change-client.ts';
import { changeMemberBody } from '../../../shared/identity/memberships/change-member.ts';
import { createClientBody } from '../../../shared/identity/memberships/clients.ts';
import { changeProjectBody } from '../../../shared/identity/projects/project.ts';
import { setMemberPasswordBody } from '../../../shared/identity/sign-in/passwords.ts';
import { answersFhir, answersJson, idempotent, json, paged, refused, text, type WordsOf } from '../words.ts';

const unknown = refused('Not in this Project');
const membership = answersFhir('ProjectMembership', 'The membership with the state of its invitation');
const client = (what: string) => answersFhir('ClientApplication', what);
const setPassword = {
  body: json(setMemberPasswordBody),
  answers: { 404: refused('Nobody has this address or id here'), 409: refused('Changed meanwhile') },
};

export const members: WordsOf<'members'> = {
  project: {
    summary: 'Read the Project',
    answers: { 200: answersJson('ProjectAnswer', 'The Project'), 404: unknown },
  },
  changeProject: {
    summary: 'Change the name of the Project, and from whom its mails come',
    body: json(changeProjectBody),
    answers: {
      200: answersJson('ProjectAnswer', 'The Project'),
      409: refused('It was changed at the same time'),
    },
  },
  members: {
    summary: 'List the members by name, those invited included',
    query: {
      'profile-type': 'Types of profiles, with commas between them',
      text: 'Words that the name or the address begins with',
      state: 'Of the invitation: `pending`, `accepted`, `revoked` or `expired`',
      admin: '`true` for administrators only',
      'access-policy': 'Reference of the policy that they have',
      'emergency-policy': 'Reference of the policy that is prepared for emergency access of theirs',
      _sort: '`name`, `address`, `kind`, `policy`, `role` or `state`, with `-` before it the other way round',
      _total: '`accurate` to be told how many there are; beyond a page not with `state`',
      ...paged,
    },
    answers: {
      200: answersFhir(
        'Bundle',
        'A page of memberships, with their last sign-in and the names of their policies',
      ),
    },
  },
  member: { summary: 'Read a membership', answers: { 200: membership } },
  changeMember: {
    summary: 'Change what a membership allows: what is left out stays, null takes away',
    body: json(changeMemberBody),
    answers: { 200: membership },
  },
  removeMember: { summary: 'Remove a member, or leave the Project; the profile stays' },
  resendInvitation: {
    summary: 'Send an invitation again, with a new link',
    answers: { 200: membership, 409: refused('It is not open') },
  },
  revokeInvitation: {
    summary: 'Revoke an invitation: its link is dead',
    answers: { 200: membership, 409: refused('It is not open') },
  },
  endEmergency: { summary: 'End the emergency access of a member before its time' },
  setMemberPassword: {
    summary: 'Set the password of a User that lives in this Project only',
    ...setPassword,
  },
  setPasswordInOwnProject: { summary: 'The same, in the Project of the token', ...setPassword },
  createClient: {
    summary: 'Create an API key, or an app that people use',
    headers: idempotent,
    body: json(createClientBody),
    answers: { 201: client('The client with its secret, shown this once') },
  },
  client: {
    summary: 'Read how a client authenticates, and when it was last used',
    answers: { 200: answersJson('ClientState', 'How it authenticates') },
  },
  changeClient: {
    summary: 'Say when a client expires; end the secret before the present one',
    body: json(changeClientBody),
    answers: {
      200: answersJson('ClientState', 'How it authenticates now'),
      409: refused('It was changed or deleted at the same time'),
    },
  },
  rotateSecret: {
    summary: 'Give a client a new secret; the old one is refused from then on, or some hours later',
    body: json(rotateSecretBody),
    answers: {
      200: client('The client with its new secret, shown this once'),
      409: refused('It is public, or was changed at the same time'),
    },
  },
  issuers: {
    summary: 'List the issuers that the Project trusts',
    answers: { 200: answersJson('Issuers', 'The issuers') },
  },
  addIssuer: {
    summary: 'Trust an issuer; one that is trusted already is replaced',
    body: json(issuerBody({ onLoopback: false })),
    answers: { 200: answersJson('Issuer', 'The issuer') },
  },
  testIssuer: {
    summary: 'Ask an issuer for its discovery document and its keys, as a sign-in would',
    answers: { 200: answersJson('IssuerTest', 'Whether it works') },
  },
  removeIssuer: { summary: 'Trust an issuer no more' },
};

export const invite: WordsOf<'invite'> = {
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
        ...json(pipe(array(inviteBody), maxLength(mostBulkRows))).content,
        'text/csv': { ...text, description: 'With a header row that names the fields' },
      },
    },
    answers: { 200: answersJson('BulkAnswer', 'What became of each row') },
  },
};
