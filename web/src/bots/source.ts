import type { Binary, Bot } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

export interface Source {
  text: string;
  /** Its ending says which language and which kind of module it is. */
  filename: string;
}

/** The source that the Bot names, which is a Binary; empty when it names none. */
export async function readSource(api: Api, botId: string, signal?: AbortSignal): Promise<Source> {
  const bot = await api.get<Bot>(`fhir/R4/Bot/${botId}`, signal);
  const { url, title = 'index.ts' } = bot.sourceCode ?? {};
  const id = /Binary\/([\w.-]+)$/.exec(url ?? '')?.[1];
  if (!id) return { text: '', filename: title };
  const answer = await api.fetch(`fhir/R4/Binary/${id}`, {}, signal);
  return { text: await answer.text(), filename: title };
}

/** Keeps the source, whether or not it compiles: a Binary, and the Bot names it. */
export async function saveSource(api: Api, botId: string, { text, filename }: Source): Promise<void> {
  const contentType = /\.[cm]?ts$/.test(filename) ? 'text/typescript' : 'text/javascript';
  const kept = await api.fetch(`fhir/R4/Binary?_filename=${encodeURIComponent(filename)}`, {
    method: 'POST',
    body: new Blob([text], { type: contentType }),
    headers: { 'x-security-context': `Bot/${botId}` },
  });
  const { id } = (await kept.json()) as Binary;
  const sourceCode = { contentType, url: `Binary/${id}`, title: filename };
  const patch = [{ op: 'add', path: '/sourceCode', value: sourceCode }];
  await api.fetch(`fhir/R4/Bot/${botId}`, {
    method: 'PATCH',
    body: patch,
    contentType: 'application/json-patch+json',
  });
}
