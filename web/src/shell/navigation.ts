interface NavigationPage {
  href: string;
  label: string;
}

const forAdministrators: readonly NavigationPage[] = [
  { href: '/members', label: 'Members' },
  { href: '/invite', label: 'Invite' },
  { href: '/policies', label: 'Access policies' },
  { href: '/bots', label: 'Bots' },
  { href: '/clients', label: 'API keys' },
  { href: '/audit', label: 'Audit log' },
];

/** The pages that a person is offered. What they may do is decided by the service alone. */
export function pagesFor(who: { isAdministrator: boolean; hasMailbox: boolean }): readonly NavigationPage[] {
  return [
    ...(who.isAdministrator ? forAdministrators : []),
    { href: '/records', label: 'Records' },
    { href: '/account', label: 'Your account' },
    ...(who.hasMailbox ? [{ href: '/mail', label: 'Mailbox' }] : []),
  ];
}
