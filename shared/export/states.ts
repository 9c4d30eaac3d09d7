import { errorCode } from '../error-name.ts';
import { stringifyJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { refusalOutcome } from '../http/outcome.ts';
import { Refusal } from '../refusal.ts';
import { readBytes } from '../store/binary-content.ts';
import { openState } from '../store/content.ts';
import { MissingPart } from '../store/packing.ts';
import type { Item } from '../table/item.ts';
import type { ExportSource, Line } from './page.ts';

/**
 * The resource of a head or a version, a Binary with its bytes.
 * @returns undefined for a deletion
 * @throws {MissingPart} of a write that was cut off
 */
async function stateOf(source: ExportSource, item: Item): Promise<Resource | undefined> {
  const opened = await openState(source, item);
  if (!opened) return undefined;
  const { resource } = opened;
  if (resource.resourceType !== 'Binary' || resource.data !== undefined) return resource;
  const bytes = await readBytes(source.table, source.project, resource.id, item);
  return { ...resource, data: bytes.toString('base64') };
}

/**
 * The line of a state; none for a deletion. One that cannot be read does not end the export: a line of errors says
 * which it is.
 */
export async function linesOfState(
  source: ExportSource,
  item: Item,
  { file, name }: { file: string; name: string },
): Promise<Line[]> {
  try {
    const resource = await stateOf(source, item);
    return resource ? [{ file, text: stringifyJson(resource) }] : [];
  } catch (error) {
    if (!isOfContent(error)) throw error;
    const outcome = refusalOutcome(
      new Refusal('unprocessable', `${name} is in the store and cannot be read`),
    );
    return [{ file: errorFile, text: JSON.stringify(outcome) }];
  }
}

/** The kind of file that tells what could not be exported. */
export const errorFile = 'OperationOutcome';

/** What is stored is at fault, not the way to it. */
function isOfContent(error: unknown): boolean {
  return error instanceof MissingPart || error instanceof SyntaxError || /^Z_/.test(errorCode(error) ?? '');
}
