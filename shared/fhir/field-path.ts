/** `name.family`, `value[x]`, `_birthDate` is meant with `birthDate`. */
export function isFieldPath(text: unknown): text is string {
  return (
    typeof text === 'string' && text.length <= 200 && /^[a-z]\w*(\[x\])?(\.[a-z]\w*(\[x\])?)*$/i.test(text)
  );
}
