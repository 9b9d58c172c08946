import { type Command, Option } from 'commander';
import type { Format } from './output/output.js';

export interface FormatOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly verbatim?: boolean;
  readonly excel?: boolean;
}

/** What is printed may be written into a file instead: see `intoFile`. */
export interface FileOptions extends FormatOptions {
  readonly out?: string;
}

/** A form of `--csv`, and no word after it: that one may be the command's own. */
class CsvForm extends Option {
  readonly form: string;

  constructor(form: string, words: string) {
    super(`--csv=${form}`, words);
    this.form = form;
  }

  override attributeName(): string {
    return this.form;
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
    .addOption(
      new CsvForm(
        'verbatim',
        'as CSV with texts unchanged, even those that a spreadsheet would run',
      ).conflicts(['json', 'csv']),
    )
    .addOption(
      new CsvForm('excel', 'as CSV for Excel, with CRLF and a byte order mark').conflicts([
        'json',
        'csv',
        'verbatim',
      ]),
    );
}

export function addFile(command: Command): Command {
  return command.option(
    '--out <file>',
    'write a new file instead, as CSV or JSON by its ending; FILE.json says when it was made and how far it can be trusted',
  );
}

export function formatOf({ json, csv, verbatim, excel }: FormatOptions): Format {
  if (json) return 'json';
  if (excel) return 'excel';
  if (verbatim) return 'verbatim';
  return csv ? 'csv' : 'table';
}

export function isCsv({ csv, verbatim, excel }: FormatOptions): boolean {
  return csv === true || verbatim === true || excel === true;
}
