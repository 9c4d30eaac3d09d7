export function Mark() {
  return <img src="/app/mark.svg" alt="Portico" width="32" height="32" className="mark" />;
}
