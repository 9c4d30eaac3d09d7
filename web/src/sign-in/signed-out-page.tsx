import { Link } from '../ui/link.tsx';
import { Door } from './door.tsx';

/** Where somebody arrives whose app has signed them out, and named no page of its own. */
export function SignedOutPage() {
  return (
    <Door title="You are signed out">
      <p>You can close this page.</p>
      <p>
        <Link href="/sign-in">Sign in again</Link>
      </p>
    </Door>
  );
}
