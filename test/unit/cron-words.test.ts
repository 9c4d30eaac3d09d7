import { expect, test } from '@jest/globals';
import { cronWords, saySchedule } from '../../web/src/triggers/schedule-words.ts';

test.each([
  ['30 7 * * 1-5', 'every weekday at 07:30'],
  ['0 0 * * *', 'every day at 00:00'],
  ['0 8,20 * * MON,fri', 'every Monday and Friday at 08:00 and 20:00'],
  ['0 9 * * 0,6', 'every Saturday and Sunday at 09:00'],
  ['0 9 * * 7', 'every Sunday at 09:00'],
  ['* * * * *', 'every minute'],
  ['*/15 8-17 * * 1-5', 'every 15 minutes between 08:00 and 17:59 every weekday'],
  ['5 * * * *', 'every hour at :05'],
  ['0 */2 * * *', 'every 2 hours'],
  ['0 6 1,15 * *', 'on the 1st and 15th of the month at 06:00'],
  ['0 6 22 JAN,6 *', 'on the 22nd of the month at 06:00 in January and June'],
  ['0 6 L * *', 'on the last day of the month at 06:00'],
  ['0 6 13 * 5', 'on the 13th of the month and every Friday at 06:00'],
])('%s is %s', (pattern, words) => {
  expect(cronWords(pattern)).toBe(words);
});

test.each(['*/7 * * * *', '1,2,3 1,2,3 * * *', '0 0 * * 5#2', '0 0 LW * *', '0 25 * * *', '0 0 * *', ''])(
  '%s has no plain words',
  (pattern) => {
    expect(cronWords(pattern)).toBeUndefined();
  },
);

const paris = [{ url: 'urn:portico:extension:timezone', valueCode: 'Europe/Paris' }];
const friday = Date.parse('2026-03-27T12:00:00Z');

test('a schedule is said with its time zone and when it comes next, across a clock change', () => {
  expect(saySchedule({ cronString: '30 7 * * 1-5', extension: paris }, friday)).toEqual({
    words: 'every weekday at 07:30',
    timezone: 'Europe/Paris',
    next: ['2026-03-30T05:30:00Z', '2026-03-31T05:30:00Z', '2026-04-01T05:30:00Z'].map(Date.parse),
  });
});

test('a Timing is said as the cron expression that says the same', () => {
  const cronTiming = { repeat: { dayOfWeek: ['mon'], timeOfDay: ['09:00:00'] } } as const;
  expect(saySchedule({ cronTiming: cronTiming as never }, friday)).toMatchObject({
    words: 'every Monday at 09:00',
    timezone: 'UTC',
  });
});

test('what the service would refuse is said as it would', () => {
  expect(saySchedule({ cronString: '0 0 30 2 *' }, friday)).toEqual({ fault: 'It never comes' });
  expect(saySchedule({ cronString: 'soon' }, friday)).toMatchObject({
    fault: expect.stringContaining('five fields'),
  });
  expect(saySchedule({}, friday)).toBeUndefined();
});
