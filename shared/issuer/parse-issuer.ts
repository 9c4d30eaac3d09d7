import { pipe, regex, string } from 'valibot';
import { fields, optional } from '../schema/fields.ts';
import { readText } from '../schema/values.ts';
import { isIssuerUrl } from './issuer-url.ts';

const printable = /^[\x20-\x7e]{1,500}$/;
const clientIdText = 'clientId is required: up to 500 printable characters';
const secretText = 'clientSecret must be up to 500 printable characters';

/** `{issuer, clientId, clientSecret?}`, as an issuer is added; other fields are ignored. */
export function issuerBody(where: { onLoopback: boolean }) {
  return fields({
    issuer: readText('issuer must be an https URL without query or fragment', (url) =>
      isIssuerUrl(url, where) ? url : undefined,
    ),
    clientId: pipe(string(clientIdText), regex(printable, clientIdText)),
    clientSecret: optional(pipe(string(secretText), regex(printable, secretText))),
  });
}
