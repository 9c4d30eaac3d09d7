export interface Table {
  header: string[];
  rows: string[][];
}

/**
 * CSV for the eye (RFC 4180; commas or semicolons): what is invited is decided by the service, which reads
 * the same text again and says what is wrong with it. Empty rows are left out, as there.
 */
export function readTable(text: string): Table {
  const separator = text.split(/[\r\n]/, 1)[0]?.includes(',') ? ',' : ';';
  const records: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    cells.push(cell);
    cell = '';
  };
  const endRecord = () => {
    endCell();
    if (cells.some((one) => one.trim() !== '')) records.push(cells);
    cells = [];
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isQuoted && character === '"' && text[at + 1] === '"') cell += text[++at];
    else if (character === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted;
    else if (isQuoted) cell += character;
    else if (character === separator) endCell();
    else if (character === '\n') endRecord();
    else if (character !== '\r') cell += character;
  }
  endRecord();
  const [header = [], ...rows] = records;
  return { header: header.map((name) => name.replace('\uFEFF', '').trim()), rows };
}
