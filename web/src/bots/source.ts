import type { Binary, Bot, Parameters } from '@medplum/fhirtypes';
import { OperationOutcomeError } from '../../../client/src/index.ts';
import { partsOf } from '../api/fhir.ts';
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

/** The code of a version. */
export interface DeployedCode {
  hash: string;
  filename: string;
  text: string;
  /** Only what was made of the author's text is kept. */
  isCompiled: boolean;
}

/** @param version a hash; without it what runs @returns undefined when nothing is deployed */
export async function readDeployedCode(
  api: Api,
  botId: string,
  { version, signal }: { version?: string; signal?: AbortSignal },
): Promise<DeployedCode | undefined> {
  try {
    const query = version === undefined ? '' : `?version=${version}`;
    const { parameter = [] } = await api.get<Parameters>(`fhir/R4/Bot/${botId}/$code${query}`, signal);
    const { hash, filename, code, compiled } = partsOf({ name: '', part: parameter });
    return {
      hash: String(hash),
      filename: String(filename),
      text: String(code),
      isCompiled: compiled === true,
    };
  } catch (error) {
    if (error instanceof OperationOutcomeError && error.status === 404) return undefined;
    throw error;
  }
}
