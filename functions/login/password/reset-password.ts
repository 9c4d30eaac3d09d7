import type { MailKind } from '../../../shared/email/mail-kind.ts';
import { resetMs } from '../../../shared/login/reset-link.ts';
import { parse } from '../../../shared/schema/check.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { resetPasswordBody } from '../bodies.ts';
import { countAttempt } from '../sign-in/attempts.ts';

/**
 * Somebody has forgotten their password: leaves a mail in the outbox, which looks up whether anybody
 * has the address. Here nothing is looked up, so known and unknown addresses cannot be told apart.
 * @param input.body `{email, projectId?}`, the Project for a User that lives in one only
 * @throws {Refusal} invalid, throttled
 */
export async function resetPassword(
  services: Services,
  { body, source }: { body: unknown; source: string },
): Promise<void> {
  const { email, projectId: project } = parse(resetPasswordBody, body);
  await countAttempt(services, `reset ${email}`, source);
  const nowMs = services.now();
  await services.table.put({
    ...keys.resetMail(email, project),
    kind: 'reset' satisfies MailKind,
    email,
    project,
    generation: nowMs,
    ttl: Math.ceil((nowMs + resetMs) / 1000),
  });
}
