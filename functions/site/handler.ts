import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { consoleLog } from '../../shared/base/log.ts';
import { redirectResponse } from '../../shared/carry/http/response.ts';
import { frontOf } from '../../shared/carry/keys/origin-secret.ts';
import { servePublic } from '../../shared/identity/gate/serve.ts';
import { routes } from '../routes.ts';
import { answerFile, answerPath } from './answer-file.ts';
import { openApi } from './openapi.ts';
import { readSite, siteFile } from './read-site.ts';

const { SITE_DIR = join(import.meta.dirname, 'site'), STAGE } = process.env;
const site = readSite(SITE_DIR, { hasMailbox: STAGE === 'local' });
const document = siteFile('openapi.json', Buffer.from(openApi), 'public, max-age=300');

/** The administration app and the description of the API: files, and nothing that needs a table. */
const edge = { log: consoleLog, newId: randomUUID, ...frontOf(process.env) };
export const handler = servePublic(edge, routes.site, {
  root: async () => redirectResponse('/app/'),
  app: async ({ headers }) => answerPath(site, '', headers),
  appFile: async ({ params, headers }) => answerPath(site, params.path, headers),
  openapi: async ({ headers }) => answerFile(document, headers),
});
