import { signInBody } from '../../../shared/identity/sign-in/authorize.ts';
import {
  codeOfLoginBody,
  linkBody,
  methodBody,
  profileBody,
  resetPasswordBody,
  setPasswordBody,
  undoAddressBody,
  verifyEmailBody,
} from '../../../shared/identity/sign-in/bodies.ts';
import { emergencyBody } from '../../../shared/identity/sign-in/emergency.ts';
import { acceptExternalBody } from '../../../shared/identity/sign-in/external/start-external.ts';
import {
  reauthenticateBody,
  reauthenticateExternalBody,
  switchBody,
} from '../../../shared/identity/sign-in/own-login.ts';
import { codeBody } from '../../../shared/identity/sign-in/own-mfa.ts';
import { changePasswordBody } from '../../../shared/identity/sign-in/passwords.ts';
import { revokeLoginBody } from '../../../shared/identity/sign-in/session.ts';
import { answersJson, json, redirects, refused, throttled, type WordsOf } from '../words.ts';

const step = answersJson('SignInStep', 'What comes next: a second factor, a choice, or a code');
const unreachable = refused('The issuer cannot be reached');
const claims = { 200: answersJson('UserInfo', 'Claims, as far as the scopes go') };
const authorization = {
  client_id: 'A ClientApplication, or a built-in client',
  redirect_uri: 'One that the client is registered with, to the letter',
  response_type: '`code`',
  scope: 'SMART v1 and v2 scopes',
  state: 'Comes back with the code',
  nonce: 'Comes back in the id token',
  code_challenge: 'PKCE (RFC 7636)',
  code_challenge_method: '`S256` or `plain`',
};

export const login: WordsOf<'login'> = {
  authorize: {
    summary: 'Begin the authorization code flow (RFC 6749 section 4.1)',
    query: authorization,
    answers: { 302: redirects('To the sign-in page, or to the client with an error') },
  },
  login: { summary: 'Sign in with address and password', body: json(signInBody), answers: { 200: step } },
  method: {
    summary: 'How somebody with an address signs in: the same answer for every one',
    body: json(methodBody),
    answers: { 200: answersJson('Empty', 'With a password') },
  },
  clientInfo: {
    summary: 'What a sign-in page may show of an app',
    answers: { 200: answersJson('ClientInfo', 'Welcome and logo'), 404: refused('No such client') },
  },
  chooseProfile: {
    summary: 'Choose one of the memberships of a login',
    body: json(profileBody),
    answers: { 200: step },
  },
  verifyMfa: {
    summary: 'Show the second factor, or a recovery code, in a login that waits for it',
    body: json(codeOfLoginBody),
    answers: { 200: step },
  },
  enrollMfaInLogin: {
    summary: 'Enrol the second factor that a membership wants, during a sign-in',
    body: json(codeOfLoginBody),
    answers: {
      200: answersJson('EnrolledStep', 'What comes next, and recovery codes, shown once'),
      429: throttled,
    },
  },
  resetPassword: {
    summary: 'Ask for a mail with a link to a new password: the same answer for every address',
    body: json(resetPasswordBody),
    answers: { 429: throttled },
  },
  invitation: {
    summary: 'Read the invitation of a mailed link; nothing is used up',
    body: json(linkBody),
    answers: { 200: answersJson('InvitationOfLink', 'Who invites whom, and how it is accepted') },
  },
  setPassword: {
    summary: 'Use a mailed link: accept an invitation, or replace a forgotten password',
    body: json(setPasswordBody),
    answers: { 409: refused('It may have been done') },
  },
  startExternal: {
    summary: 'Sign in with an external issuer (OpenID Connect Core section 3.1)',
    query: { 'issuer!': 'URL of the issuer', project_id: 'Of several Projects', ...authorization },
    answers: { 302: redirects('To the issuer'), 503: unreachable },
  },
  acceptExternal: {
    summary: 'Accept an invitation by signing in with the issuer that it names',
    body: json(acceptExternalBody),
    answers: { 200: answersJson('Location', 'Where the browser goes'), 503: unreachable },
  },
  finishExternal: {
    summary: 'Where an issuer sends people back to',
    query: { state: 'As it was sent', code: 'Of the issuer', iss: 'Of the issuer (RFC 9207)' },
    answers: { 302: redirects('To the client, with a code or an error') },
  },
  undoAddress: {
    summary:
      'Use the link that was mailed to an address that was left: it is the person’s again, and all their logins end',
    body: json(undoAddressBody),
    answers: { 409: refused('Somebody has it in a Project') },
  },
  verifyEmail: {
    summary: 'Use the link that was mailed to a new address, as whoever asked for it',
    body: json(verifyEmailBody),
    answers: { 403: refused('Somebody else asked'), 409: refused('Taken'), 429: throttled },
  },
};

export const account: WordsOf<'account'> = {
  userInfo: { summary: 'Who the token speaks for (OpenID Connect UserInfo)', answers: claims },
  userInfoByPost: { summary: 'The same by POST', answers: claims },
  me: {
    summary: 'Membership, profile, Project and sessions of the caller',
    answers: { 200: answersJson('Me', 'The caller') },
  },
  switchProject: {
    summary: 'Begin to change to another of the own Projects, in the place of the present login',
    body: json(switchBody),
    answers: { 200: step },
  },
  takeEmergency: {
    summary: 'Take the emergency access that is prepared for the caller ("break the glass")',
    body: json(emergencyBody),
    answers: {
      200: answersJson('Emergency', 'What goes on, and until when'),
      409: refused('It goes on for another reason'),
      429: refused('Taken too often today'),
    },
  },
  endOwnEmergency: { summary: 'End the own emergency access before its time' },
  reauthenticate: {
    summary: 'Show again who one is: what needs a recent sign-in may be done with the same token',
    body: json(reauthenticateBody),
    answers: { 200: answersJson('Reauthenticated', 'When that was') },
  },
  reauthenticateExternal: {
    summary: 'Show again who one is at the issuer that vouched for the login',
    body: json(reauthenticateExternalBody),
    answers: { 200: answersJson('Location', 'Where the browser goes'), 503: unreachable },
  },
  signOut: { summary: 'End the login of the token' },
  revokeLogin: {
    summary: 'End one of the own logins, as `auth/me` lists them',
    body: json(revokeLoginBody),
    answers: { 404: refused('No such login') },
  },
  mfaStatus: {
    summary: 'Whether there is a second factor, or the secret that this login may enrol',
    answers: { 200: answersJson('MfaStatus', 'The state of the second factor') },
  },
  enrollMfa: {
    summary: 'Enrol the second factor',
    body: json(codeBody),
    answers: {
      200: answersJson('RecoveryCodes', 'Recovery codes, shown once'),
      409: refused('There is one already'),
      429: throttled,
    },
  },
  disableMfa: { summary: 'Remove the second factor', body: json(codeBody) },
  renewRecoveryCodes: {
    summary: 'Make new recovery codes; the earlier ones are good no more',
    body: json(codeBody),
    answers: { 200: answersJson('RecoveryCodes', 'Recovery codes, shown once') },
  },
  changePassword: {
    summary: 'Change the own password; the other logins end',
    body: json(changePasswordBody),
    answers: { 409: refused('It was changed at the same time') },
  },
};
