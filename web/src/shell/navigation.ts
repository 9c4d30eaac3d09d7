import type { IconName } from './icon.tsx';

interface NavigationPage {
  href: string;
  label: string;
  icon: IconName;
}

interface NavigationGroup {
  title: string;
  pages: readonly NavigationPage[];
}

const start: NavigationGroup = {
  title: 'Start',
  pages: [{ href: '/overview', label: 'Overview', icon: 'home' }],
};

const people: NavigationGroup = {
  title: 'People',
  pages: [
    { href: '/members', label: 'Members', icon: 'people' },
    { href: '/invite', label: 'Invite', icon: 'invite' },
    { href: '/policies', label: 'Access policies', icon: 'shield' },
  ],
};

const automation: NavigationGroup = {
  title: 'Automation',
  pages: [
    { href: '/bots', label: 'Bots', icon: 'bot' },
    { href: '/clients', label: 'API keys', icon: 'key' },
  ],
};

const records: NavigationPage = { href: '/records', label: 'Records', icon: 'record' };
const audit: NavigationPage = { href: '/audit', label: 'Audit log', icon: 'clock' };
const reference: NavigationPage = { href: '/reference', label: 'API reference', icon: 'book' };
const settings: NavigationPage = { href: '/project', label: 'Settings', icon: 'sliders' };
const account: NavigationPage = { href: '/account', label: 'Your account', icon: 'person' };
const mailbox: NavigationPage = { href: '/mail', label: 'Mailbox', icon: 'mail' };

/** The pages that a person is offered, in groups. What they may do is decided by the service alone. */
export function groupsFor(who: {
  isAdministrator: boolean;
  hasMailbox: boolean;
}): readonly NavigationGroup[] {
  const own = [account, reference, ...(who.hasMailbox ? [mailbox] : [])];
  if (!who.isAdministrator) return [{ title: 'Project', pages: [records, ...own] }];
  return [
    start,
    people,
    automation,
    { title: 'Data', pages: [records, audit] },
    { title: 'Project', pages: [settings, ...own] },
  ];
}
