import type { Item } from '../../table/item.ts';

/** Several streams in the order of time as one; what stands in two of them comes once. */
export async function* mergeTimed(
  streams: readonly AsyncGenerator<Item>[],
  newestFirst: boolean,
): AsyncGenerator<Item> {
  const heads = await Promise.all(streams.map((stream) => stream.next()));
  for (let last: string | undefined; ; ) {
    let leader = -1;
    for (const [i, head] of heads.entries()) {
      const best = heads[leader];
      if (head.done) continue;
      if (!best || best.done || newestFirst === head.value.sk > best.value.sk) leader = i;
    }
    const head = heads[leader];
    if (!head || head.done) return;
    if (head.value.sk !== last) yield head.value;
    last = head.value.sk;
    heads[leader] = (await streams[leader]?.next()) ?? head;
  }
}
