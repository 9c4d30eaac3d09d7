/** What the sign-in page says after it. */
const idleNotice = 'You were signed out because nothing was done here for a while.';

const name = 'portico.ended';

/**
 * Loads the sign-in page anew: what this page's memory held of records is gone, and so is the way back to it. After
 * signing in one is where one was.
 */
export function leaveForIdleness(): void {
  const path = location.pathname.replace(/^\/app/, '') + location.search;
  try {
    sessionStorage.setItem(name, 'idle');
  } catch {
    // Where the browser forbids storage nothing is said.
  }
  const isPage = path !== '' && path !== '/' && !path.startsWith('/sign-in');
  const address = `/app/sign-in${isPage ? `?next=${encodeURIComponent(path)}` : ''}`;
  location.replace(path.startsWith('/sign-in') ? `/app${path}` : address);
}

/** Said once. */
export function noticeOfLeaving(): string | undefined {
  try {
    const isIdle = sessionStorage.getItem(name) === 'idle';
    sessionStorage.removeItem(name);
    return isIdle ? idleNotice : undefined;
  } catch {
    return undefined;
  }
}
