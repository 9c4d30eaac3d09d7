import type { routes } from '../../../functions/routes.ts';
import { redeliverBody } from '../../../functions/subscriptions/redeliver.ts';
import { resendBody } from '../../../functions/subscriptions/resend.ts';
import { answersFhir, done, json, paged, refused, type Words } from '../words.ts';

const unknown = refused('Not in this Project');
const unavailable = refused('Try again shortly: nothing was queued');

export const subscriptions: Record<keyof typeof routes.subscriptions, Words> = {
  deliveries: {
    summary: 'What a Subscription has delivered: an AuditEvent an attempt',
    query: { outcome: '`success`, `failure` or `unknown`', ...paged },
    answers: { 200: answersFhir('Bundle', 'A page of attempts'), 404: unknown },
  },
  redeliver: {
    summary: 'Have a delivery that has ended made again',
    body: json(redeliverBody),
    answers: { 200: done, 404: refused('No such Subscription, or no such delivery'), 503: unavailable },
  },
  resend: {
    summary: 'Decide again which Subscriptions the last change of a record is for',
    body: { ...json(resendBody), isOptional: true },
    answers: { 200: done, 404: unknown, 503: unavailable },
  },
};
