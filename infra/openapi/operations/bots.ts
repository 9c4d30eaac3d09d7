import { deployBody } from '../../../functions/bots/code-to-deploy.ts';
import { createBotBody } from '../../../functions/bots/create-bot.ts';
import { fetchHostsBody } from '../../../functions/bots/fetch-hosts.ts';
import { secretsBody } from '../../../functions/bots/parse-secrets.ts';
import { rollBackBody } from '../../../functions/bots/roll-back-bot.ts';
import type { routes } from '../../../functions/routes.ts';
import { answersFhir, answersJson, done, idempotent, json, paged, refused, type Words } from '../words.ts';

const unknown = refused('Not in this Project');
const names = answersJson('SecretNames', 'The names; no value ever leaves');
const hosts = answersJson('FetchHosts', 'Where Bots may fetch from');

export const bots: Record<keyof typeof routes.bots, Words> = {
  createBot: {
    summary: 'Create a Bot with its membership, its own identity',
    headers: idempotent,
    body: json(createBotBody),
    answers: {
      201: answersFhir('Bot', 'The Bot'),
      409: refused('A Bot with this identifier exists'),
    },
  },
  failures: {
    summary: 'The Bots and Subscriptions that failed in the last 24 hours',
    answers: {
      200: answersJson('Failures', 'Of 50 Bots and 100 Subscriptions the latest 20 runs or attempts each'),
    },
  },
  fetchHosts: { summary: 'Where the Bots of the Project may fetch from', answers: { 200: hosts } },
  changeFetchHosts: {
    summary: 'Say where the Bots of the Project may fetch from',
    body: json(fetchHostsBody),
    answers: { 200: hosts },
  },
  projectSecrets: { summary: 'The names of the secrets of the Project', answers: { 200: names } },
  changeProjectSecrets: {
    summary: 'Replace the secrets of the Project; an entry with a name only keeps its value',
    body: json(secretsBody),
    answers: { 200: names },
  },
  botSecrets: { summary: 'The names of the secrets of a Bot', answers: { 200: names, 404: unknown } },
  changeBotSecrets: {
    summary: 'Replace the secrets of a Bot; an entry with a name only keeps its value',
    body: json(secretsBody),
    answers: { 200: names, 404: unknown },
  },
  deployBot: {
    summary: 'Deploy code, or without a body what executableCode or sourceCode names',
    body: { ...json(deployBody), isOptional: true },
    answers: { 200: done, 404: unknown },
  },
  rollBackBot: {
    summary: 'Go back to a version that was deployed before',
    body: json(rollBackBody),
    answers: { 200: done, 404: refused('No such Bot, or no such version') },
  },
  botLogs: {
    summary: 'What a Bot has run, with its logs',
    query: {
      outcome: '`success`, `failure` or `unknown`',
      date: 'When it ran, with the prefixes of a search',
      requester: 'Who ran it',
      trace: 'A trace id',
      ...paged,
    },
    answers: { 200: answersFhir('Parameters', 'A page of runs'), 404: unknown },
  },
  botCode: {
    summary: 'The code of a version of a Bot',
    query: { version: 'A hash that `$versions` names; without it what runs' },
    answers: {
      200: answersFhir('Parameters', 'Its hash, file name and text'),
      404: refused('No such Bot, no such version, or nothing is deployed'),
    },
  },
  botFigures: {
    summary: 'How a Bot has done in the last 24 hours',
    answers: { 200: answersFhir('Parameters', 'Runs, failures, p50 and p95 of the time'), 404: unknown },
  },
  botVersions: {
    summary: 'The versions of a Bot that were deployed',
    query: paged,
    answers: { 200: answersFhir('Parameters', 'A page of versions'), 404: unknown },
  },
};
