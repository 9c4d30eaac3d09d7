/** What the list of members is sorted and searched by. */
export interface MemberPlace {
  /** Normalised as R4 string search compares. */
  name: string;
  /** Empty for those who have none. */
  address: string;
}

/** Stands in no normalised text, and before everything that can follow a name. */
const between = '\t';

/**
 * What stands before the id in the index item by kind of profile: what the token has there, name and address. So
 * the members of a kind are listed by name, and found by either, without an item more and without reading one of them.
 */
export function memberSort(ofToken: string, { name, address }: MemberPlace): string {
  return [ofToken, name, address].join(between);
}

/** What the sort key of such an item tells; undefined for one of an earlier release, which holds the id alone. */
export function memberPlaceOf(sk: string): MemberPlace | undefined {
  const [, name, address] = sk.slice(0, sk.lastIndexOf('#')).split(between);
  return name === undefined || address === undefined ? undefined : { name, address };
}

/** Whether each word of the text begins a word of the name, or the address, or its domain. */
export function isMemberFound({ name, address }: MemberPlace, words: readonly string[]): boolean {
  const known = [...name.split(/[\s,]+/), address, address.slice(address.indexOf('@') + 1)];
  return words.every((word) => known.some((one) => one.startsWith(word)));
}
