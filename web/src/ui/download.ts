/** Cells as CSV (RFC 4180). */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cellText = (cell: string) => (/[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

/** Hands a CSV text to the browser as a file; with a byte order mark, by which Excel knows UTF-8. */
export function downloadCsv(filename: string, text: string): void {
  downloadFile(filename, new Blob([`\uFEFF${text}`], { type: 'text/csv;charset=utf-8' }));
}

export function downloadFile(filename: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = filename;
  link.click();
  URL.revokeObjectURL(link.href);
}
