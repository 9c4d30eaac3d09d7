import type { RefusalIssue } from '../refusal.ts';
import { isIssuerUrl } from './issuer-url.ts';

export interface IssuerFields {
  issuer: string;
  clientId: string;
  secret: string | undefined;
}

/** @param body `{issuer, clientId, clientSecret?}`; other fields are ignored */
export function parseIssuer(
  body: unknown,
  where: { onLoopback: boolean },
): { fields: IssuerFields; issues: RefusalIssue[] } {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const { issuer, clientId, clientSecret: secret } = given;
  const issues: RefusalIssue[] = [];
  if (!isIssuerUrl(issuer, where)) {
    issues.push({ expression: 'issuer', text: 'issuer must be an https URL without query or fragment' });
  }
  if (!isPrintable(clientId)) {
    issues.push({ expression: 'clientId', text: 'clientId is required: up to 500 printable characters' });
  }
  if (secret != null && !isPrintable(secret)) {
    issues.push({ expression: 'clientSecret', text: 'clientSecret must be up to 500 printable characters' });
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const fields = { issuer: text(issuer), clientId: text(clientId), secret: text(secret) || undefined };
  return { fields, issues };
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,500}$/.test(value);
}
