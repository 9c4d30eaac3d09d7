import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Answer, Portico } from './portico.ts';
import { createBot, deploy, execute } from './running.ts';

const folder = resolve(import.meta.dirname, '../../examples/bots');

/** The name by which the examples know each other. */
const system = 'https://clinic.example.org/bots';

/** Creates and deploys an example as its author would; answers the Bot's id. */
export async function deployExample(portico: Portico, name: string, value = name): Promise<string> {
  const botId = await createBot(portico, { name, identifier: [{ system, value }] });
  await deploy(portico, botId, await readFile(resolve(folder, `${name}.ts`), 'utf8'), `${name}.ts`);
  return botId;
}

/** The example's own input; `changes` are made in its text. */
export async function exampleInput(file: string, changes: Record<string, string> = {}): Promise<string> {
  let text = await readFile(resolve(folder, file), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Executes and answers; fails with the answer's text when it is not 200. */
export async function run(
  portico: Portico,
  botId: string,
  input: string,
  contentType: string,
): Promise<Answer> {
  const answer = await execute(portico, botId, input, contentType);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

/** All that a search finds on one page. */
// biome-ignore lint/suspicious/noExplicitAny: a spec looks into resources of every type
export async function found(portico: Portico, query: string): Promise<any[]> {
  const { json, status, text } = await portico.api('GET', `fhir/R4/${query}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (json.entry ?? []).map(({ resource }: { resource: unknown }) => resource);
}
