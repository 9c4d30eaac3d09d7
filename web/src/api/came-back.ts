let isBack = false;

/** Whether the page that is shown was come back to, with the browser's own button. */
export function cameBack(): boolean {
  return isBack;
}

// wouter tells of the addresses that it goes to by events of these names.
addEventListener('popstate', () => {
  isBack = true;
});
addEventListener('pushState', () => {
  isBack = false;
});
