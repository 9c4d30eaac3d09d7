import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Demo } from './demo-projects.ts';

/**
 * A demo Project of the stack that runs on a data folder.
 * @param project its id or name; the first one when left out
 * @throws {Error} when there is none
 */
export async function demoProject(
  dataDir: string,
  project: string | undefined,
): Promise<{ baseUrl: string; project: Demo['projects'][number] }> {
  const file = join(dataDir, 'demo.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`There is no ${file}: start the stack with npm start`);
  });
  const { baseUrl, projects } = JSON.parse(text) as Demo;
  const found =
    project === undefined ? projects[0] : projects.find(({ id, name }) => id === project || name === project);
  if (found) return { baseUrl, project: found };
  const known = projects.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(`No Project is called "${project}"; there are ${known}`);
}
