import { profileType } from '../members/profile-type.ts';
import { useSession } from '../session/session-context.tsx';
import { Badge } from '../ui/badge.tsx';
import { Details } from '../ui/details.tsx';
import { Page } from '../ui/page.tsx';
import { AddressCard } from './address-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SecondFactorCard } from './second-factor-card.tsx';

/** Who is signed in, and what they alone may change. */
export function AccountPage() {
  const { me } = useSession();
  const { membership, project, user } = me;
  return (
    <Page title="Your account">
      <section className="card" aria-label="Who you are here">
        <Details
          items={[
            ['Name', membership.profile?.display ?? ''],
            ['E-mail', user?.email ?? 'none'],
            ['Project', project.name ?? project.id],
            ['Joined as', profileType(membership.profile?.reference)],
            ['Role', <Badge key="role">{membership.admin ? 'Administrator' : 'Member'}</Badge>],
          ]}
        />
      </section>
      <PasswordCard />
      <SecondFactorCard />
      {user && <AddressCard />}
    </Page>
  );
}
