import type { Mailer } from '../../shared/email/mailer.ts';
import type { KeyRings } from '../../shared/keys/key-ring.ts';
import type { Services } from '../../shared/services.ts';

export interface OutboxServices extends Services {
  mailer: Mailer;
  keyRings: KeyRings<'invitation-link' | 'reset-link' | 'address-link'>;
}
