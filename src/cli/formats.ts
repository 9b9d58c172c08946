import { Option } from 'commander';
import type { Format } from './output/output.js';

/** How rows can be had beside a table for people: the words of `--json` and `--csv`, and whether they go into a file. */
export interface Prints {
  readonly json?: string;
  readonly csv?: string;
  readonly file?: boolean;
}

const FORMS = ['json', 'excel', 'verbatim', 'csv'] as const;

/** What is printed may be written into a file instead: see `intoFile`. */
export type FileOptions = { readonly [Form in (typeof FORMS)[number]]?: boolean } & { readonly out?: string };

/** A form of `--csv`, and no word after it: that one may be the command's own. */
class CsvForm extends Option {
  override attributeName(): string {
    return this.name().replace('csv=', '');
  }
}

export function formOptions({ json, csv, file = false }: Prints): Option[] {
  const options = json === undefined ? [] : [new Option('--json', json)];
  if (csv !== undefined)
    options.push(
      new Option('--csv', csv).conflicts('json'),
      new CsvForm(
        '--csv=verbatim',
        'as CSV with texts unchanged, even those that a spreadsheet would run',
      ).conflicts(['json', 'csv']),
      new CsvForm('--csv=excel', 'as CSV for Excel, with CRLF and a byte order mark').conflicts([
        'json',
        'csv',
        'verbatim',
      ]),
    );
  const about = 'as CSV or JSON by its ending; FILE.json says when it was made and how far it can be trusted';
  if (file) options.push(new Option('--out <file>', `write a new file instead, ${about}`));
  return options;
}

export function formatOf(given: FileOptions): Format {
  return FORMS.find(form => given[form]) ?? 'table';
}
