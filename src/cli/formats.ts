import { Option } from 'commander';
import type { Format } from './output/output.js';

/** How rows can be had beside a table for people: the words of `--json` and `--csv`. */
export interface Prints {
  readonly json?: string;
  readonly csv?: string;
}

const FORMS = ['json', 'excel', 'verbatim', 'csv'] as const;

/** A form of `--csv`, and no word after it: that one may be the command's own. */
class CsvForm extends Option {
  override attributeName(): string {
    return this.name().replace('csv=', '');
  }
}

export function formOptions({ json, csv }: Prints): Option[] {
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
  return options;
}

export function formatOf(given: Readonly<Record<string, unknown>>): Format {
  return FORMS.find(form => given[form] === true) ?? 'table';
}
