import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import type { Issuers } from '../issuers/issuers.ts';

export interface AccountServices extends Services {
  issuers: Issuers;
  keyRings: KeyRings<'totp' | 'drafts' | 'external-sign-in'>;
}
