import { explainRow, type Explanation, rowsOf } from '../../query/history/explanation.js';
import { certificateWords, reasons } from '../../text/read-behind.js';
import { command } from '../command.js';
import { checkFault } from '../exit.js';
import { demandEntry, findVersions } from '../find/in-mirror.js';
import { sheet } from '../output/sheet.js';
import { date, otherwise, ROW_WORDS } from '../taken.js';

export const EXPLAIN = command({
  says: 'Explain why a row is as it is: which read showed it, what had asked for that read, when it was last seen, and what is not known',
  words: ROW_WORDS,
  options: { asOf: otherwise(date('as it stood then: the end of'), 'now') },
  prints: { json: 'print it as JSON' },
  examples: today => [
    'carbon-mirror explain retirements 3f0c5d0e-8a51-4b6f-9d0f-6a1f6c8f2b11',
    `carbon-mirror explain warehouse_credits exPost-2-0xabc --as-of ${today}`,
  ],
  run: async (context, { table, id, asOf }) => {
    const { measure } = await import('./certificates/files.js');
    const { contradictedColumns } = await import('../../sync/derived.js');
    const entry = demandEntry(table);
    const [reader, pdfs] = [await context.reader(), await context.pdfs()];
    const inspect = (file: string) => measure(pdfs, file);
    const ground = { reader, at: asOf.to, inspect, contradicted: contradictedColumns };
    const all: Explanation[] = [];
    for (const versions of rowsOf(entry, await findVersions(reader, entry, id)))
      all.push(await explainRow(ground, entry, versions));
    if (context.format === 'json') await context.value(all);
    else for (const each of all) await context.print(...linesOf(each));
    demandListed(all);
  },
});

function demandListed(all: readonly Explanation[]): void {
  const [first] = all;
  if (first === undefined || all.some(({ row }) => row !== null)) return;
  throw checkFault(`The mirror had no row "${first.id}" in ${first.table} at ${first.at}.`);
}

function linesOf(explained: Explanation): string[] {
  const { table, id, at, row, document } = explained;
  const lines = [`${table} ${id}, as observed by ${at}`, '', ...(row === null ? [] : sheet(row))];
  lines.push(...reasons(explained), ...certificateWords(explained.certificate));
  if (explained.not_known.length > 0) {
    lines.push('', 'Not known:', ...explained.not_known.map(gap => `  ${gap}`));
  }
  if (document !== null) lines.push('', "The registry's own object:", ...document.split('\n'));
  return [...lines, ''];
}
