import { useState } from 'react';
import { countDrafts } from '../drafts/drafts.ts';
import { hasKept } from '../drafts/kept-inputs.ts';
import { useSession, useSessionState } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';

/** Ends the session; asks first when something that was typed would be lost with it. */
export function SignOut() {
  const session = useSession();
  const { signOut } = useSessionState();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        kind="quiet"
        className="shell-out"
        onPress={() => (countDrafts(session) > 0 || hasKept() ? setAsking(true) : signOut())}
      >
        Sign out
      </Button>
      <Confirm
        isOpen={isAsking}
        title="Sign out and discard your changes?"
        deed="Sign out and discard them"
        isBusy={false}
        message={undefined}
        onConfirm={signOut}
        onClose={() => setAsking(false)}
      >
        <p>You have typed something here that is not saved. Signing out removes it from this device.</p>
      </Confirm>
    </>
  );
}
