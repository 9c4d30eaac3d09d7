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

/** The outlines of the icons, in a square of 24. */
const outlines = {
  home: 'M3 11l9-8 9 8M6 9v12h12V9M10 21v-6h4v6',
  people: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9a7 7 0 0 1 14 0M16 3.5a4 4 0 0 1 0 7M18 14a7 7 0 0 1 4 6',
  invite: 'M10 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9a7 7 0 0 1 12-5M19 14v6M16 17h6',
  shield: 'M12 3l8 3v5c0 5-3.5 8.5-8 10-4.5-1.5-8-5-8-10V6l8-3Z',
  bot: 'M5 9h14v10H5V9Zm7-5v5M9 13v2M15 13v2M2 13v3M22 13v3',
  key: 'M8 19a5 5 0 1 0 0-10 5 5 0 0 0 0 10Zm3.5-8.5L21 3M16 7l3 3',
  record: 'M6 3h9l4 4v14H6V3Zm3 8h7M9 15h7',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3 3',
  person: 'M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm-8 9a8 8 0 0 1 16 0',
  book: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5V4Zm14 0h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4V4Z',
  sliders: 'M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4',
  mail: 'M3 6h18v13H3V6Zm0 1 9 7 9-7',
} as const;

type IconName = keyof typeof outlines;

/** A small picture beside a word that says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={outlines[name]} />
    </svg>
  );
}
