/** What the sign-in page says after it. */
const idleNotice = 'You were signed out because nothing was done here for a while.';

const name = 'portico.ended';

/** Pages for who is not signed in: they show no records, and may be at something of their own. */
const doors = /^\/(accept|external|forgot|reset|sign-in|signed-out|verify)\b/;

/**
 * Loads the sign-in page anew: what this page's memory held of records is gone, and so is the way back to it. After
 * signing in one is where one was.
 */
export function leaveForIdleness(): void {
  const path = location.pathname.replace(/^\/app/, '') + location.search;
  if (doors.test(path)) return;
  try {
    sessionStorage.setItem(name, 'idle');
  } catch {
    // Where the browser forbids storage nothing is said.
  }
  const isPage = path !== '' && path !== '/';
  location.replace(`/app/sign-in${isPage ? `?next=${encodeURIComponent(path)}` : ''}`);
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
