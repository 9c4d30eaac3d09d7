/** Called while CDK bundles the invoker: `node infra/guest/main.ts <folder> <platform>`. */

import { buildGuest, type GuestPlatform } from './build.ts';

const [, , outDir, platform] = process.argv;
if (!outDir) throw new Error('Give a folder for the guest');
await buildGuest(outDir, platform as GuestPlatform | undefined);
