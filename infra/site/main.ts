/** Called while CDK bundles the app's function: `node infra/site/main.ts <folder>` puts the app into it. */

import { cp } from 'node:fs/promises';
import { buildSite, siteFolder } from './build.ts';

const [, , outDir] = process.argv;
if (!outDir) throw new Error('Give a folder for the app');
const built = await siteFolder();
await buildSite(built);
await cp(built, outDir, { recursive: true });
