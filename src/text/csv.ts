export type CsvCell = string | number | bigint | boolean | null | undefined | Uint8Array;

/** Formats cells as one line of CSV with its line break. */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(',')}\n`;
}

/** Converts a value to text without quoting; bytes become base64. */
export function formatCellText(value: NonNullable<CsvCell>): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value);
}

// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/**
 * Formats and quotes one cell. Text that a spreadsheet would run as a formula gets an apostrophe in front: also after
 * blanks, in full-width characters, and after `;`, which some spreadsheets read as the end of a cell.
 */
export function formatCsvCell(cell: CsvCell): string {
  const isText = typeof cell === 'string' && !NUMBER.test(cell);
  const text = isText ? cell.replace(FORMULA, "$1'") : formatUnquoted(cell);
  return /[",;\r\n]/.test(text) ? quote(text) : text;
}

function formatUnquoted(cell: CsvCell): string {
  return cell === null || cell === undefined ? '' : formatCellText(cell);
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
