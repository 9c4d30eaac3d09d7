const names: Readonly<Record<string, string>> = {
  RelatedPerson: 'Related person',
  ClientApplication: 'API key',
};

/** The kind of profile that a reference names, in words. */
export function profileType(reference: string | undefined): string {
  const type = reference?.split('/')[0] ?? '';
  return names[type] ?? type;
}
