import { exactOptional, fallback, object, pipe, string, transform } from 'valibot';
import { parseReference, type Reference } from '../../base/resource.ts';
import { fields, optionalField, readText, stored, whole } from '../../base/schema.ts';

/** A version of a resource: all that its key needs. */
export const versionName = object({ versionId: string(), lastUpdated: string() });

/** What every stored resource has, whatever else. */
export const resourceEntries = {
  resourceType: string(),
  id: string(),
  meta: versionName,
};

export const reference = object({ reference: string(), display: exactOptional(string()) });

/** A resource as the table holds it: what every one has is looked at, the rest was checked when it was written. */
export const readResource = stored('resource', object(resourceEntries));

const longestDisplay = 200;

/**
 * A relative reference to a resource of one type, in its one form; of its other members `display` is kept.
 * @param name of the field, for the text
 */
export function referenceTo(type: string, name: string) {
  return referenceThat(`${name} must be a reference such as ${type}/123`, (target) => target.type === type);
}

/** @param isWanted says of a well-formed reference whether it leads to what is meant */
export function referenceThat(
  text: string,
  isWanted: (target: { type: string; id: string }) => boolean = () => true,
) {
  const read = (given: string) => {
    const target = parseReference(given);
    return target && isWanted(target) ? given : undefined;
  };
  const members = { reference: readText(text, read), display: fallback(optionalField(string()), undefined) };
  return whole(
    pipe(
      fields(members),
      transform(
        ({ reference, display }): Reference => ({
          reference,
          ...(display ? { display: display.slice(0, longestDisplay) } : {}),
        }),
      ),
    ),
    text,
  );
}
