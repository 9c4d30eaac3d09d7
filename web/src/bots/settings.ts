import type { Bot, Identifier } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

/** What a person sets of a Bot, as it stands in the fields; an empty text is the service's own default. */
export interface BotSettings {
  name: string;
  description: string;
  /** One a line, `system|value`. */
  identifiers: string;
  /** Seconds. */
  timeout: string;
  /** MiB. */
  memory: string;
  runAsUser: boolean;
}

type Limited = Bot & { memory?: number };

export function settingsOf(bot: Limited): BotSettings {
  const { name = '', description = '', identifier = [], timeout, memory, runAsUser = false } = bot;
  return {
    ...{ name, description, runAsUser },
    identifiers: identifier.map(({ system = '', value = '' }) => `${system}|${value}`).join('\n'),
    timeout: timeout === undefined ? '' : String(timeout),
    memory: memory === undefined ? '' : String(memory),
  };
}

/** Saves them. @throws what the service refused, a change by others meanwhile too */
export async function saveSettings(api: Api, bot: Limited, settings: BotSettings): Promise<void> {
  const { name, description, identifiers, timeout, memory, runAsUser } = settings;
  const known = bot.identifier ?? [];
  const {
    timeout: _timeout,
    memory: _memory,
    description: _description,
    identifier: _identifier,
    ...kept
  } = bot;
  const lines = identifiers.split('\n').filter((line) => line.trim() !== '');
  const body = {
    ...kept,
    ...{ name: name.trim(), runAsUser },
    ...(description.trim() ? { description: description.trim() } : {}),
    ...(lines.length > 0 ? { identifier: lines.map((line) => identifierOf(line, known)) } : {}),
    ...(timeout.trim() ? { timeout: Number(timeout) } : {}),
    ...(memory.trim() ? { memory: Number(memory) } : {}),
  };
  await api.send('PUT', `fhir/R4/Bot/${bot.id}`, body, { 'if-match': `W/"${bot.meta?.versionId}"` });
}

/** What else an identifier says is kept with it. */
function identifierOf(line: string, known: readonly Identifier[]): Identifier {
  const [, system = '', value = ''] = /^(?:(.*)\|)?([^|]*)$/.exec(line.trim()) ?? [];
  const same = known.find((one) => (one.system ?? '') === system && one.value === value);
  return same ?? { ...(system ? { system } : {}), value };
}
