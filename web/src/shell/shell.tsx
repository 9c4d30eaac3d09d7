import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { useReloadWarning } from '../drafts/use-kept.ts';
import { EmergencyBar } from '../emergency/emergency-bar.tsx';
import { TakeEmergency } from '../emergency/take-emergency.tsx';
import { useEmergency } from '../emergency/use-emergency.ts';
import { useSession } from '../session/session-context.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { Mark } from '../ui/mark.tsx';
import { Icon } from './icon.tsx';
import { groupsFor } from './navigation.ts';
import { ProjectSwitcher } from './project-switcher.tsx';
import { SignOut } from './sign-out.tsx';
import { useStage } from './use-stage.ts';

/** The frame around every page: Project, navigation, who is signed in. */
export function Shell({ children }: { children: ReactNode }) {
  const { me } = useSession();
  useReloadWarning();
  const emergency = useEmergency();
  const { hasMailbox } = useStage();
  const [path] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <div className="shell-side">
        <header className="shell-top">
          <Mark />
          <div className="shell-project">
            <span className="shell-name">{me.project.name ?? 'Portico'}</span>
            <span className="shell-who">{me.membership.profile?.display ?? me.user?.email}</span>
          </div>
          <Button
            kind="quiet"
            className="shell-menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onPress={() => setOpen(!isOpen)}
          >
            Menu
          </Button>
        </header>
        <nav id="navigation" className="shell-nav" aria-label="Pages" data-open={isOpen || undefined}>
          {groupsFor({ isAdministrator: me.membership.admin === true, hasMailbox }).map(
            ({ title, pages }) => (
              <div className="shell-group" key={title}>
                <h2 id={`pages-${title}`}>{title}</h2>
                <ul aria-labelledby={`pages-${title}`}>
                  {pages.map(({ href, label, icon }) => (
                    <li key={href}>
                      <Link
                        href={href}
                        className="shell-link"
                        {...(path.startsWith(href) ? { 'aria-current': 'page' } : {})}
                        onPress={() => setOpen(false)}
                      >
                        <Icon name={icon} />
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ),
          )}
          <ProjectSwitcher />
          <TakeEmergency emergency={emergency} />
          <SignOut />
        </nav>
      </div>
      <main id="page" className="shell-page" tabIndex={-1}>
        <EmergencyBar emergency={emergency} />
        {children}
      </main>
    </div>
  );
}
