/** Reads on in one export, as its function does, and says what each part of it cost. */

import { coreServices } from '../../shared/composition/core-services.ts';
import { goOn } from '../../shared/records/export/go-on.ts';

export interface RunOfExport {
  /** CPU of each part, from what was kept before to what is kept with it. */
  partsMs: number[];
  /** The most memory that the process had. */
  mostMb: number;
}

const [, , pk = '', sk = ''] = process.argv;
const services = coreServices(process.env);
await services.table.read([{ pk, sk }]);

const partsMs: number[] = [];
let from = process.cpuUsage();
const transact: typeof services.table.transact = async (actions) => {
  await services.table.transact(actions);
  const { user, system } = process.cpuUsage(from);
  partsMs.push(Math.round((user + system) / 1000));
  from = process.cpuUsage();
};
await goOn({ ...services, table: { ...services.table, transact } }, { pk, sk }, Date.now() + 600_000);
const mostMb = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ partsMs, mostMb } satisfies RunOfExport)}\n`);
process.exit(0);
