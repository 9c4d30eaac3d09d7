/** A Content-Type: the type in lower case, and its charset parameter (RFC 9110 section 8.3). */
export interface MediaType {
  type: string;
  charset: string | undefined;
}

export function parseMediaType(header: string | undefined): MediaType | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const [type = '', ...parameters] = header.split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset };
}
