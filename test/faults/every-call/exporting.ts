import type { Portico } from '../../spec/portico.ts';

/** Begins an export; answers its id. */
export async function exportedId(portico: Portico): Promise<string> {
  const headers = { prefer: 'respond-async' };
  const {
    status,
    text,
    headers: said,
  } = await portico.api('GET', 'fhir/R4/$export?_type=Patient', { headers });
  if (status !== 202) throw new Error(`No export: ${status} ${text}`);
  return String(said.get('content-location')).split('/').at(-1) ?? '';
}
