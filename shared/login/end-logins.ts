import type { Services } from '../services.ts';
import { endLogin } from './end-login.ts';
import { idOfLogin } from './login-item.ts';
import { loginsOf } from './logins-of.ts';

/**
 * Ends all logins of a person but the one to keep, once none begins with their password any more. Until the last has
 * ended another may come of it, by a change of the Project: it is looked again until there is none, which who makes such
 * changes delays only while they are faster every time.
 */
export async function endLogins(services: Services, userId: string, keep?: string): Promise<void> {
  for (;;) {
    const alive = (await loginsOf(services, userId)).map(idOfLogin).filter((id) => id !== keep);
    if (alive.length === 0) return;
    for (const id of alive) await endLogin(services.table, id);
  }
}
