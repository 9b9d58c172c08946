import { type Command, Option } from 'commander';
import type { Format } from './output/output.js';

export interface FormatOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly excel?: boolean;
}

/** What is printed may be written into a file instead: see `intoFile`. */
export interface FileOptions extends FormatOptions {
  readonly out?: string;
}

/** A form of `--csv`, and no word after it: that one may be the command's own. */
class ExcelOption extends Option {
  constructor() {
    super(
      '--csv=excel',
      'the same for a spreadsheet: CRLF, a byte order mark, and no text that it would run',
    );
  }

  override attributeName(): string {
    return 'excel';
  }
}

export function addFormats(
  command: Command,
  json = 'print the rows as JSON',
  csv = 'print the rows as CSV',
): Command {
  return command
    .option('--json', json)
    .addOption(new Option('--csv', csv).conflicts('json'))
    .addOption(new ExcelOption().conflicts(['json', 'csv']));
}

export function addFile(command: Command): Command {
  return command.option(
    '--out <file>',
    'write it into a new file (.csv and .json say the form), and FILE.json about it: when, and how far it can be trusted',
  );
}

export function formatOf({ json, csv, excel }: FormatOptions): Format {
  if (json) return 'json';
  if (excel) return 'excel';
  return csv ? 'csv' : 'table';
}

export function isCsv({ csv, excel }: FormatOptions): boolean {
  return csv === true || excel === true;
}
