import { requireVariable } from '../../shared/base/env.ts';
import { consoleLog as log } from '../../shared/base/log.ts';
import { look, requireWell } from './look.ts';

const baseUrl = requireVariable(process.env, 'BASE_URL');

/** A schedule calls it every five minutes. Nobody else may invoke it. @throws {Error} naming what did not answer */
export async function handler(): Promise<void> {
  const seen = await look(baseUrl, 5_000);
  for (const one of seen) log.info('seen', { ...one });
  requireWell(seen);
}
