const key = 'portico.refresh-token';

/**
 * The refresh token of this tab, so that a reload does not end the session. `sessionStorage` belongs to this
 * origin and this tab: a page of another origin cannot read it, it is gone when the tab closes, and the
 * pages' policy lets no script but our own run here. The access token is never stored. A browser that
 * forbids storage only loses the session on reload.
 */
export const refreshTokenStore = {
  read(): string | undefined {
    try {
      return sessionStorage.getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  },
  write(token: string | undefined): void {
    try {
      if (token === undefined) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, token);
    } catch {
      // Then a reload asks for the password again.
    }
  },
};
