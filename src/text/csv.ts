/** A value that can be written to a cell of CSV. */
export type CsvCell = string | number | bigint | boolean | null | undefined | Uint8Array | CodedValue;

/** A code with its values, such as the reason for a difference. */
export type CodedValue = Readonly<Record<string, string | number | bigint | null>> & {
  readonly code: string;
};

/** Formats cells as one line of CSV, including the line break. */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCsvCell).join(',')}\n`;
}

/**
 * Converts a value to text without CSV quotes. Bytes become base64. An object with a `code` and other fields, such as a caveat, becomes a
 * text such as `never_read organizations=2`.
 */
export function formatCellText(value: NonNullable<CsvCell>): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'object' ? formatCoded(value) : String(value);
}

/** Converts a code with its values to text, such as `never_read organizations=2`. */
export function formatCoded({ code, ...values }: { readonly code: string }): string {
  return [code, ...Object.entries(values).map(([name, value]) => `${name}=${String(value)}`)].join(' ');
}

/** A formula may also follow blanks, follow a `;` that ends a cell in some spreadsheets, or use full-width characters. */
// eslint-disable-next-line no-control-regex
const FORMULA = /(^|;)(?=[\s\u0000-\u001f\u007f-\u009f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/g;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** Formats a CSV cell: adds quotes if needed, and an apostrophe before a formula, so that no spreadsheet runs it. */
export function formatCsvCell(cell: CsvCell): string {
  const isText = typeof cell === 'string' && !NUMBER.test(cell);
  const text = isText ? cell.replace(FORMULA, "$1'") : formatCellOrEmpty(cell);
  return /[",;\r\n]/.test(text) ? quoteCsvText(text) : text;
}

/** Converts a value to text without CSV quotes. Null and undefined become an empty string. */
function formatCellOrEmpty(cell: CsvCell): string {
  return cell === null || cell === undefined ? '' : formatCellText(cell);
}

/** Quotes a text for CSV: `say "hi"` → `"say ""hi"""`. */
function quoteCsvText(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
