import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { servePublic } from '../../shared/http/serve-public.ts';
import { consoleLog } from '../../shared/log.ts';
import { routes } from '../routes.ts';
import { answerFile } from './answer-file.ts';
import { readSite } from './read-site.ts';

const { SITE_DIR = join(import.meta.dirname, 'site'), STAGE } = process.env;
const site = readSite(SITE_DIR, { hasMailbox: STAGE === 'local' });

/** The administration app: files, and nothing that needs a table. */
export const handler = servePublic({ log: consoleLog, newId: randomUUID }, routes.site, {
  app: async ({ headers }) => answerFile(site, '', headers),
  appFile: async ({ params, headers }) => answerFile(site, params.path, headers),
});
