import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Reference } from '../../shared/fhir/resource.ts';
import { readCursor, writeCursor } from '../../shared/search/cursor.ts';
import type { Services } from '../../shared/services.ts';
import { botVersionPrefix } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';
import { botKeyOf, requireBot } from './move-bot.ts';
import { nextParameter, type Parameter, type Parameters, parsePage } from './parameters.ts';

/**
 * A Bot's versions, newest first, each once: `version` parameters with the parts `hash`, `deployed`,
 * `filename`, `by` and `current`; `next` is the URL of the following page.
 * @throws {Refusal} forbidden, not-found, invalid
 */
export async function listVersions(
  services: Services,
  caller: Caller,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const botKey = botKeyOf(caller.project, botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  const { codeVersion } = requireBot(actor, found.get(botKey));
  const path = `Bot/${botId}/$versions`;
  const { count, cursor } = parsePage(query);
  const { items, next } = await services.table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': botKey.pk, ':prefix': botVersionPrefix },
    ScanIndexForward: false,
    Limit: count,
    ...(cursor === undefined
      ? {}
      : { ExclusiveStartKey: { pk: botKey.pk, sk: readCursor(caller.project, path, cursor) } }),
  });
  const following = next && writeCursor(caller.project, path, next.sk);
  return {
    resourceType: 'Parameters',
    parameter: [
      ...items.map((item) => versionParameter(item, codeVersion)),
      ...nextParameter(services.baseUrl, path, query, following),
    ],
  };
}

function versionParameter(item: Item, current: string | undefined): Parameter {
  return {
    name: 'version',
    part: [
      { name: 'hash', valueString: String(item.version) },
      { name: 'deployed', valueInstant: String(item.deployed) },
      { name: 'filename', valueString: String(item.filename) },
      { name: 'by', valueReference: item.by as Reference },
      { name: 'current', valueBoolean: item.version === current },
    ],
  };
}
