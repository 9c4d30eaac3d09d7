/** The parameters by which a read asks for the key and these attributes only. */
export function projectionOf(attributes: readonly string[]) {
  const names = attributes.map((attribute, i) => [`#a${i}`, attribute] as const);
  return {
    ProjectionExpression: ['pk', 'sk', ...names.map(([name]) => name)].join(', '),
    ...(names.length > 0 ? { ExpressionAttributeNames: Object.fromEntries(names) } : {}),
  };
}
