import type { Portico } from '../spec/portico.ts';

/** How many runs left a Basic with this text. */
export async function runsOf(portico: Portico, text: string | undefined): Promise<number> {
  return (await allRuns(portico)).filter((one) => one === text).length;
}

/** The texts of all that runs left. */
export async function allRuns(portico: Portico): Promise<string[]> {
  const texts: string[] = [];
  for (let path: string | undefined = 'fhir/R4/Basic?_count=500'; path !== undefined; ) {
    const { json, status, text } = await portico.api('GET', path);
    if (status !== 200) throw new Error(`No Basics: ${status} ${text}`);
    texts.push(
      ...(json.entry ?? []).map(
        (entry: { resource: { code: { text: string } } }) => entry.resource.code.text,
      ),
    );
    path = json.link?.find((link: { relation: string }) => link.relation === 'next')?.url;
  }
  return texts;
}
