import { check, pipe, regex, string } from 'valibot';
import { attachmentOf, type CodeAttachment, codeElements } from '../../shared/bot/attachments.ts';
import type { StoredBot } from '../../shared/bot/bot-item.ts';
import { sourceBinary } from '../../shared/bot/source-binary.ts';
import { decodeUtf8 } from '../../shared/http/request.ts';
import { invalidField } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import type { Services } from '../../shared/services.ts';
import { readBytes } from '../../shared/store/binary-content.ts';

interface Source {
  source: string;
  filename: string;
}

/** A plain name that says which language and module kind it is. */
const fileNames = /^[\w.-]{1,100}\.[cm]?[jt]s$/;

const codeText = 'code must be the text of the Bot';
const filenameText = 'filename must be a plain name ending in .js, .mjs, .cjs, .ts, .mts or .cts';

export const deployBody = fields({
  code: pipe(
    string(codeText),
    check((code) => code.trim() !== '', codeText),
  ),
  filename: optional(pipe(string(filenameText), regex(fileNames, filenameText))),
});

/**
 * What is to be deployed: the body's code, or without a body what the Bot itself names.
 * @throws {Refusal} invalid
 */
export async function codeToDeploy(
  services: Services,
  project: string,
  bot: StoredBot,
  body: unknown,
): Promise<Source> {
  return body === undefined ? attachedCode(services, project, bot) : parseDeploy(body);
}

function parseDeploy(body: unknown): Source {
  const { code, filename = 'index.js' } = parse(deployBody, body);
  return { source: code, filename };
}

async function attachedCode({ table, baseUrl }: Services, project: string, bot: StoredBot): Promise<Source> {
  const name = codeElements.find((one) => bot.resource[one] !== undefined);
  if (!name) throw invalidField('code', 'The Bot has neither executableCode nor sourceCode: send code');
  const binary = await sourceBinary({ table, project, baseUrl }, bot.resource, name);
  if (!binary) throw invalidField(name, `${name} names no Binary of this project`);
  const source = decodeUtf8(await readBytes(table, project, binary.id, binary.head));
  if (source.trim() === '') throw invalidField(name, `The Binary that ${name} names is empty`);
  return { source, filename: nameOf(attachmentOf(bot.resource, name)) };
}

function nameOf({ title, contentType }: CodeAttachment): string {
  if (typeof title === 'string' && fileNames.test(title)) return title;
  return /typescript/i.test(String(contentType)) ? 'index.ts' : 'index.js';
}
