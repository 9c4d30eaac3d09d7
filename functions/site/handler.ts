import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import type { LambdaHandler } from '../../shared/http/endpoint.ts';
import { traceIdOf } from '../../shared/http/request.ts';
import { routes } from '../routes.ts';
import { answerFile } from './answer-file.ts';
import { readSite } from './read-site.ts';

const { SITE_DIR = join(import.meta.dirname, 'site'), STAGE } = process.env;
const site = readSite(SITE_DIR, { hasMailbox: STAGE === 'local' });

const serve: LambdaHandler = async (event) => {
  const { path = '' } = event.pathParameters ?? {};
  return answerFile(site, { path, headers: event.headers, traceId: traceIdOf(event.headers, randomUUID) });
};

/** The administration app: files, and nothing that needs a table. */
export const handler = dispatch({ [routeKey(routes.app)]: serve, [routeKey(routes.appFile)]: serve });
