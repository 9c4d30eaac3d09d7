import { useState } from 'react';
import { signIn } from '../../../client/src/index.ts';
import { postJson } from '../../../client/src/sign-in.ts';
import { nothingFor, useAction, useLoad } from '../api/use-api.ts';
import { profileType } from '../members/invitation.ts';
import { baseUrl } from '../session/session.ts';
import { ActionButton, Details, Failure, Link, Loading, Moment } from '../ui/basics.tsx';
import { PasswordField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Door } from './door.tsx';
import { type MailedLink, setPassword, withLink } from './link-pages.tsx';
import { type Proceed, stepTitles, useSignInSteps } from './next-step.tsx';
import { acceptAtIssuer, signInTarget } from './sign-in-target.ts';

/** Where an invitation's link leads. Opening it accepts nothing; the button does, and signs the person in. */
export const AcceptPage = withLink(Accept, 'the invitation e-mail');

function Accept({ link }: { link: MailedLink }) {
  const { step, next, failure, proceed } = useSignInSteps();
  const loaded = useLoad(link.id, () => invitationOf(link));
  if (loaded.value === 'dead') return <DeadLink />;
  return (
    <Door title={step ? stepTitles[step.kind] : 'Accept your invitation'}>
      <Failure message={failure} />
      {next ?? (
        <Loading of={loaded}>
          {(invitation) =>
            invitation !== 'dead' && <AcceptForm link={link} invitation={invitation} proceed={proceed} />
          }
        </Loading>
      )}
    </Door>
  );
}

function DeadLink() {
  return (
    <Door title="This link no longer works">
      <p>
        The invitation was accepted already, has expired, was withdrawn, or a newer e-mail has taken its
        place. Use the link in the newest one, or ask whoever invited you for a new invitation.
      </p>
      <p>
        If you have accepted it already, <Link href="/sign-in">sign in</Link>.
      </p>
    </Door>
  );
}

interface Props {
  link: MailedLink;
  invitation: InvitationOfLink;
  proceed: Proceed;
}

function AcceptForm({ link, invitation, proceed }: Props) {
  const { project, name, email, inviter, expires, method } = invitation;
  return (
    <>
      <Details
        of={{
          Project: project.display ?? 'unnamed',
          'Invited by': inviter,
          Invited: name && `${name}, ${profileType(invitation.profileType)}`,
          'E-mail': email,
          'Valid until': <Moment at={expires} />,
        }}
      />
      {typeof method === 'object' ? (
        <WithIssuer link={link} issuer={method.issuer} />
      ) : (
        <WithPassword link={link} invitation={invitation} proceed={proceed} />
      )}
    </>
  );
}

function WithPassword({ link, invitation: { email = '', project, method }, proceed }: Props) {
  const [isAccepted, setAccepted] = useState(false);
  const isNew = method === 'new-password';
  const form = useForm({ password: '' }, async ({ password }) => {
    // A sign-in that failed is tried again without the link, which is used up.
    if (!isAccepted) await setPassword({ ...link, password });
    setAccepted(true);
    const projectId = project.reference.replace(/^Project\//, '');
    const { request, finish } = await signInTarget();
    await proceed(await signIn({ ...request, projectId, email, password }), finish);
  });
  return (
    <Form label="Accept your invitation" action={form} submit="Accept and join">
      <p className="muted">
        {isNew
          ? 'Choose a password for your account.'
          : 'You have an account here already. Accept with its password.'}
      </p>
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField label="Password" isNew={isNew} {...form.field('password')} isRequired />
    </Form>
  );
}

function WithIssuer({ link, issuer }: { link: MailedLink; issuer: string }) {
  const accept = useAction(() => acceptAtIssuer(link));
  return (
    <>
      <p className="muted">You sign in with your organisation, at {URL.parse(issuer)?.host ?? issuer}.</p>
      <Failure message={accept.message} />
      <ActionButton label="Accept with your organisation’s sign-in" kind="primary" action={accept} />
    </>
  );
}

interface InvitationOfLink {
  project: { reference: string; display?: string };
  name?: string;
  email?: string;
  inviter?: string;
  profileType: string;
  expires: string;
  method: 'new-password' | 'own-password' | { issuer: string };
}

/** What a link invites to; `dead` when it leads nowhere any more. */
async function invitationOf(link: MailedLink): Promise<InvitationOfLink | 'dead'> {
  const found = await postJson(baseUrl, 'auth/invitation', link).catch(nothingFor(400));
  return found === undefined ? 'dead' : (found as InvitationOfLink);
}
