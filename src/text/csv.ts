export type CsvCell = string | number | bigint | boolean | null | undefined | Uint8Array;

export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(',')}\n`;
}

export function cellText(cell: NonNullable<CsvCell>): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : String(cell);
}

// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/**
 * A spreadsheet runs a text cell that begins like a formula, also behind blanks and in full-width letters, and some
 * take `;` for the end of a cell: an apostrophe in front keeps it text.
 */
export function formatCsvCell(cell: CsvCell): string {
  const isText = typeof cell === 'string' && !NUMBER.test(cell);
  const text = isText ? cell.replace(FORMULA, "$1'") : unquotedText(cell);
  return /[",;\r\n]/.test(text) ? quote(text) : text;
}

function unquotedText(cell: CsvCell): string {
  return cell === null || cell === undefined ? '' : cellText(cell);
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
