import type { Mailer } from '../../shared/email/mailer.ts';
import type { StageSecret } from '../../shared/keys/signer.ts';
import type { Services } from '../../shared/services.ts';

export interface OutboxServices extends Services {
  mailer: Mailer;
  secret(): Promise<StageSecret>;
}
