import { object, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { reference } from '../../shared/fhir/stored-resource.ts';
import { stored } from '../../shared/schema/stored.ts';
import type { Services } from '../../shared/services.ts';
import { readCursor, sortKeyWith, writeCursor } from '../../shared/store/cursor.ts';
import type { Item } from '../../shared/table/item.ts';
import { botVersionPrefix } from '../../shared/table/keys.ts';
import { admitToBot } from './admit-to-bot.ts';
import { nextParameter, type Parameter, type Parameters, parsePage } from './parameters.ts';

/**
 * A Bot's versions, newest first, each once: `version` parameters with the parts `hash`, `deployed`,
 * `filename`, `by` and `current`; `next` is the URL of the following page.
 * @throws {Refusal} not-found, invalid
 */
export async function listVersions(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { bot, botKey } = await admitToBot(services, caller, botId);
  const path = `Bot/${botId}/$versions`;
  const { count, cursor } = parsePage(query);
  const listing = { project: caller.project, name: path };
  const after = readCursor(listing, cursor, sortKeyWith(botVersionPrefix));
  const { items, next } = await services.table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': botKey.pk, ':prefix': botVersionPrefix },
    ScanIndexForward: false,
    Limit: count,
    ...(after === undefined ? {} : { ExclusiveStartKey: { pk: botKey.pk, sk: after } }),
  });
  const following = next && writeCursor(listing, next.sk);
  return {
    resourceType: 'Parameters',
    parameter: [
      ...items.map((item) => versionParameter(item, bot.codeVersion)),
      ...nextParameter(services.baseUrl, path, query, following),
    ],
  };
}

const readVersion = stored(
  'version of a Bot',
  object({ version: string(), deployed: string(), filename: string(), by: reference }),
);

function versionParameter(item: Item, current: string | undefined): Parameter {
  const { version, deployed, filename, by } = readVersion(item);
  return {
    name: 'version',
    part: [
      { name: 'hash', valueString: version },
      { name: 'deployed', valueInstant: deployed },
      { name: 'filename', valueString: filename },
      { name: 'by', valueReference: by },
      { name: 'current', valueBoolean: version === current },
    ],
  };
}
