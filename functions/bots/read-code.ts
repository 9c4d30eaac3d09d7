import type { Caller } from '../../shared/access/access-token.ts';
import { codeOf } from '../../shared/bot/bot-item.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { admitToBot } from './admit-to-bot.ts';
import { sourceOf } from './bot-source.ts';
import type { Parameters } from './parameters.ts';

/**
 * The code of a version: `hash`, `filename`, `code` and `current`. `compiled` says that only what was made of the
 * author's text is there: that of earlier releases, or a text too long to be kept beside it.
 * @param query `version`, a hash that `$versions` names; without it what runs
 * @throws {Refusal} not-found, invalid
 */
export async function readCode(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  const { codeVersion } = (await admitToBot(services, caller, botId)).bot;
  const version = wanted(query) ?? codeVersion;
  if (version === undefined) throw new Refusal('not-found', 'Nothing of the Bot is deployed');
  const codeKey = keys.botCode(project, botId, version);
  const sourceKey = keys.botSource(project, botId, version);
  const items = await services.table.read([codeKey, sourceKey]);
  const item = items.get(codeKey);
  if (!item) throw new Refusal('not-found', 'The Bot has no such version');
  const code = codeOf(item);
  const source = sourceOf(items.get(sourceKey));
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'hash', valueString: version },
      { name: 'filename', valueString: code.filename },
      { name: 'code', valueString: source ?? code.text },
      { name: 'compiled', valueBoolean: source === undefined && isCompiled(code) },
      { name: 'current', valueBoolean: version === codeVersion },
    ],
  };
}

function wanted(query: URLSearchParams): string | undefined {
  for (const name of query.keys()) {
    if (name !== 'version') throw invalidField(name, `Unknown parameter ${name} of $code`);
  }
  const version = query.get('version') ?? undefined;
  if (version === undefined || /^[0-9a-f]{64}$/.test(version)) return version;
  throw invalidField('version', 'version must be a hash that $versions names');
}

/** JavaScript of which no lines were moved is kept as it came. */
function isCompiled({ filename, isMapped }: { filename: string; isMapped: boolean }): boolean {
  return isMapped || /\.[cm]?ts$/.test(filename);
}
