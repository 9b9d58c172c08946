/** A value that can be written to a cell of CSV. */
export type CsvCell = string | number | bigint | boolean | null | undefined | Uint8Array;

/** Formats cells as one line of CSV with its line break. */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(',')}\n`;
}

/** Converts a value to text without CSV quotes; bytes become base64. */
export function formatCellText(value: NonNullable<CsvCell>): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value);
}

// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/**
 * Formats one cell, with quotes if it needs them. Text that a spreadsheet would run as a formula is disarmed by an
 * apostrophe. A formula may also follow blanks or a `;` (some spreadsheets end a cell there) or use full-width characters.
 */
export function formatCsvCell(cell: CsvCell): string {
  const isText = typeof cell === 'string' && !NUMBER.test(cell);
  const text = isText ? cell.replace(FORMULA, "$1'") : formatCellOrEmpty(cell);
  return /[",;\r\n]/.test(text) ? quoteCsvText(text) : text;
}

/** Converts a value to text without CSV quotes; null and undefined become an empty text. */
function formatCellOrEmpty(cell: CsvCell): string {
  return cell === null || cell === undefined ? '' : formatCellText(cell);
}

/** Puts a text in double quotes and doubles the quotes inside it. */
function quoteCsvText(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
