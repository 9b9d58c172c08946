import type { Command } from 'commander';
import { type Explanation, explainRow, rowsOf } from '../../../query/past/explanation.js';
import { certificateWords, reasons } from '../../../text/read-behind.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { aDate, readSpan, today } from '../../instant.js';
import { type Io, print } from '../../io.js';
import { demandEntry, findVersions } from '../../named/versions.js';
import { writeValue } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading, withPdfs } from '../../place/place.js';
import { sheet } from '../../shown/sheet.js';

interface Options {
  readonly asOf?: string;
  readonly json?: boolean;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('explain')
    .description(
      'Say why a row is so: what showed it, who had asked, when it was last seen, and what is not known',
    )
    .argument('<table>', 'retirements, warehouse_credits, installations or another table that is mirrored')
    .argument('<id>', "the row's id or its beginning (for certificates that of the retirement)")
    .option('--as-of <instant>', `as it stood then: the end of ${aDate(io)}`)
    .option('--json', 'print it as JSON')
    .action(async (table: string, id: string, options: Options) => {
      const entry = demandEntry(table);
      const at = readSpan(options.asOf ?? 'now', io.now()).to;
      const place = findPlace(io);
      const { measure } = await import('../certificates/files.js');
      const { contradictedColumns } = await import('../../../sync/derived.js');
      const all = await withPdfs(place, io.now, async pdfs =>
        reading(place, async reader => {
          const ground = {
            reader,
            at,
            inspect: (file: string) => measure(pdfs, file),
            contradicted: contradictedColumns,
          };
          const rows = rowsOf(entry, await findVersions(reader, entry, id));
          const explained: Explanation[] = [];
          for (const versions of rows) explained.push(await explainRow(ground, entry, versions));
          return explained;
        }),
      );
      if (options.json) await writeValue(io, all);
      else for (const each of all) await print(io, ...linesOf(each));
      demandListed(all);
    });
  examples(command, [
    'carbon-mirror explain retirements 3f0c5d0e-8a51-4b6f-9d0f-6a1f6c8f2b11',
    `carbon-mirror explain warehouse_credits exPost-2-0xabc --as-of ${today(io)}`,
  ]);
}

function demandListed(all: readonly Explanation[]): void {
  const [first] = all;
  if (first === undefined || all.some(({ row }) => row !== null)) return;
  throw new CommandFault(
    EXIT.checkFailed,
    `No row of "${first.id}" was known in ${first.table} at ${first.at}.`,
  );
}

function linesOf(explained: Explanation): string[] {
  const { table, id, at, row, document } = explained;
  const lines = [`${table} ${id}, as told by ${at}`, '', ...(row === null ? [] : sheet(row))];
  lines.push(...reasons(explained), ...certificateWords(explained.certificate));
  if (explained.not_known.length > 0) {
    lines.push('', 'Not known:', ...explained.not_known.map(gap => `  ${gap}`));
  }
  if (document !== null) lines.push('', "The registry's own object:", ...document.split('\n'));
  return [...lines, ''];
}
