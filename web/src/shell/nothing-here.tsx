import { Link } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';

export function NothingHere() {
  return (
    <Page title="Nothing here">
      <p>There is no such page, or it is for administrators only.</p>
      <p>
        <Link href="/records">Go to the records</Link>
      </p>
    </Page>
  );
}
