import { domainToASCII } from 'node:url';
import { normalised } from '../../base/values.ts';

const longestAddress = 254;

/**
 * The one form under which an e-mail address is known: NFC, lower case, domain in ASCII (IDNA).
 * Dots and plus signs stay, a look-alike letter is another address. Undefined when `text` is not
 * a single address with a domain of two labels or more (RFC 5321 dot-string local part).
 */
export function normaliseAddress(text: string): string | undefined {
  if (text.length > 4 * longestAddress) return undefined;
  const folded = normalised(normalised(text, 'NFC').toLowerCase(), 'NFC');
  const at = folded.lastIndexOf('@');
  const local = folded.slice(0, at);
  const domain = domainOf(folded.slice(at + 1));
  const address = `${local}@${domain}`;
  if (at < 1 || !isLocalPart(local) || !isDomain(domain) || Buffer.byteLength(address) > longestAddress) {
    return undefined;
  }
  return address;
}

/** SES takes no address whose local part is not ASCII, however often it is tried. @param address normalised */
export function isMailable(address: string): boolean {
  return /^[\x21-\x7e]+$/.test(address);
}

/** Only letters, digits, hyphens and dots: the URL parser behind domainToASCII would cut off a path or a line end. */
function domainOf(text: string): string {
  return /^[\p{L}\p{M}\p{N}.\-\u3002\uff0e\uff61]+$/u.test(text) ? domainToASCII(text) : '';
}

function isLocalPart(local: string): boolean {
  return (
    Buffer.byteLength(local) <= 64 &&
    /^[^\s.@()<>[\]:;,\\"\p{C}]+(\.[^\s.@()<>[\]:;,\\"\p{C}]+)*$/u.test(local)
  );
}

function isDomain(domain: string): boolean {
  return /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(domain);
}
