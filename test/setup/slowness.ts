/** CPU of the reference work where the bounds of the tests were measured, in ms. */
const referenceMs = 60;

/**
 * How much more CPU the same work takes here and now than where the bounds of the tests were measured: for another
 * processor, and for what others do to its caches. 1 where it takes less.
 */
export function slowness(): number {
  return Math.max(1, Math.min(cpuMsOf(referenceWork), cpuMsOf(referenceWork)) / referenceMs);
}

/** CPU of this process while it works, in ms: unlike the time of the clock, without that of other processes. */
export function cpuMsOf(work: () => unknown): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/** Text, objects and garbage, as a request makes them. */
function referenceWork(): number {
  const items = Array.from({ length: 2_000 }, (_, n) => ({
    id: `item-${n}`,
    values: [n, `${n % 7}`, { n }],
  }));
  let found = 0;
  for (let turn = 0; turn < 40; turn++) {
    const copy: typeof items = JSON.parse(JSON.stringify(items));
    const byId = new Map(copy.map((item) => [item.id, item]));
    for (const { id } of items) if (/-(\d+)$/.test(id) && byId.get(id)) found++;
  }
  return found;
}
