import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { postJson } from '../../../client/src/sign-in.ts';
import { baseUrl, type Session } from '../session/session.ts';
import { endSession, useSessionState } from '../session/session-state.ts';
import { Notice } from '../ui/basics.tsx';
import { PasswordField, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { Door } from './door.tsx';
import { TokenField } from './next-step.tsx';

/** Id and secret of a mailed link. They stand in the fragment, which no browser sends to a server. */
export interface MailedLink {
  id: string;
  secret: string;
}

/** A page where a mailed link leads. Opening it does nothing; a button uses it, once. */
export function withLink(Page: (props: { link: MailedLink }) => ReactNode, mail = 'the e-mail') {
  return function LinkPage() {
    const [link] = useState(() => {
      const fragment = new URLSearchParams(location.hash.slice(1));
      const [id, secret] = [fragment.get('id'), fragment.get('secret')];
      return id && secret ? { id, secret } : undefined;
    });
    if (link) return <Page link={link} />;
    return (
      <Door title="This link is incomplete">
        <p>Open the link in {mail} again, or copy all of it into the address bar.</p>
      </Door>
    );
  };
}

/** Uses a mailed link, once. @throws {OperationOutcomeError} */
export async function setPassword(body: MailedLink & { password: string }): Promise<void> {
  await postJson(baseUrl, 'auth/setpassword', body);
}

/** Where the link for a new password leads. */
export const ResetPage = withLink(function Reset({ link }) {
  const [, navigate] = useLocation();
  const form = useForm({ password: '' }, async ({ password }) => {
    await setPassword({ ...link, password });
    endSession('Your new password is set, and you are signed out everywhere. Sign in with it.');
    navigate('/sign-in', { replace: true });
  });
  return (
    <Door title="Choose a new password">
      <Form label="Choose a new password" action={form} submit="Set the password">
        <PasswordField label="New password" isNew {...form.field('password')} isRequired />
      </Form>
    </Door>
  );
});

/** Where the link leads that takes an address back. */
export const UndoPage = withLink(function Undo({ link }) {
  const [isTried, setTried] = useState(false);
  const form = useForm({ token: '' }, async ({ token }) => {
    try {
      await postJson(baseUrl, 'auth/undoaddress', { ...link, ...(isTried ? { token } : {}) });
    } finally {
      // Whether a code is asked for only the service knows: it says so at the first try.
      setTried(true);
    }
  });
  if (form.isSaved) {
    return (
      <Door title="Your address is yours again" link={{ label: 'Choose a new password', href: '/forgot' }}>
        <p>You are signed out everywhere, and your password is good no more.</p>
      </Door>
    );
  }
  const isAsked = isTried && (form.values.token !== '' || 'token' in form.fieldErrors);
  return (
    <Door title="Take your address back">
      <Form label="Take your address back" action={form} submit="Take the address back">
        <p>
          Your sign-in will be with this address again. Whoever has changed it is signed out everywhere, and
          you choose a new password.
        </p>
        <p>If it was you who changed the address, close the page: nothing happens.</p>
        {isAsked && <TokenField {...form.field('token')} orRecovery />}
      </Form>
    </Door>
  );
});

/** Where the link to a new address leads: used for the person who asked, signed in here, or by their password. */
export const VerifyPage = withLink(function Verify({ link }) {
  const { session } = useSessionState();
  const asker = session && isOf(link, session) ? session : undefined;
  const form = useForm({ password: '' }, ({ password }) => {
    const path = 'auth/verifyemail';
    if (!asker) return postJson(baseUrl, path, { ...link, password });
    return asker.portico.fetch(path, { method: 'POST', body: link, contentType: 'application/json' });
  });
  if (form.isSaved) {
    return (
      <Door title="Your address is confirmed">
        <p>Sign in with it from now on. You stay signed in where you are.</p>
      </Door>
    );
  }
  return (
    <Door title="Confirm your address">
      <Form label="Confirm your address" action={form} submit="Confirm the address">
        <p>From then on you sign in with this address, and no longer with the old one.</p>
        {!asker && (
          <>
            <p>If you did not ask for this, close the page: nothing changes.</p>
            <PasswordField label="Your password" {...form.field('password')} isRequired>
              The password of the account whose address you are changing.
            </PasswordField>
          </>
        )}
      </Form>
    </Door>
  );
});

/** The id of such a link begins with the User who asked. */
function isOf({ id }: MailedLink, { me }: Session): boolean {
  return me.user !== undefined && id.startsWith(`${me.user.id}.`);
}

/** Asks for a mail with a link to a new password. What it says is the same for every address. */
export function ForgotPage() {
  const form = useForm({ email: '' }, ({ email }) => postJson(baseUrl, 'auth/resetpassword', { email }));
  return (
    <Door title="Forgot your password?" link={{ label: 'Back to the sign-in', href: '/sign-in' }}>
      {form.isSaved ? (
        <Notice kind="good">
          If somebody signs in with this address, an e-mail with a link is on its way to it.
        </Notice>
      ) : (
        <Form label="Forgot your password?" action={form} submit="Send the link">
          <p className="muted">We send you a link to choose a new one.</p>
          <TextField
            label="E-mail"
            type="email"
            autoComplete="username"
            {...form.field('email')}
            isRequired
          />
        </Form>
      )}
    </Door>
  );
}

/** Where somebody arrives whose app has signed them out, and named no page of its own. */
export function SignedOutPage() {
  return (
    <Door title="You are signed out" link={{ label: 'Sign in again', href: '/sign-in' }}>
      <p>You can close this page.</p>
    </Door>
  );
}
