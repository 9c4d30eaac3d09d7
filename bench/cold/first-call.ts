/**
 * Loads a bundle in a fresh process, and calls it once when told to: `node first-call.ts <file> [event as JSON]`
 * says the milliseconds of CPU that the import took, and those of the call.
 */

import { pathToFileURL } from 'node:url';

const [, , file = '', event] = process.argv;
const began = process.cpuUsage();
const { handler } = await import(pathToFileURL(file).href);
const loaded = process.cpuUsage(began);
const called = process.cpuUsage();
const answer =
  event === undefined
    ? { statusCode: 200 }
    : await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20_000 });
if (![200, 201, 409].includes(answer.statusCode)) throw new Error(JSON.stringify(answer));
const answered = process.cpuUsage(called);
const msOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;
process.stdout.write(JSON.stringify([msOf(loaded), msOf(answered)]));
process.exit(0);
