import type { routes } from '../../../functions/routes.ts';
import { answersJson, redirects, refused, type Words } from '../words.ts';

const page = { description: 'A file of the app', content: { 'text/html': { type: 'string' } } };
const known = { description: 'The caller has it' };

export const site: Record<keyof typeof routes.site, Words> = {
  root: { summary: 'Leads to the app', answers: { 302: redirects('To the administration app') } },
  app: { summary: 'The administration app', answers: { 200: page, 304: known } },
  appFile: {
    summary: 'A page or file of the app',
    answers: { 200: page, 304: known, 404: refused('No such file') },
  },
  openapi: {
    summary: 'This document (OpenAPI 3.1)',
    headers: { 'If-None-Match': 'The ETag that the caller has' },
    answers: { 200: answersJson('Metadata', 'This document'), 304: known },
  },
};
