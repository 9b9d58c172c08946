import type { Command } from 'commander';
import type { ReadBehind } from '../../../query/explain.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { AN_INSTANT, readInstant } from '../../instant.js';
import { type Io, print } from '../../io.js';
import { demandEntry, findVersions } from '../../named/versions.js';
import { writeValue } from '../../output/output.js';
import { findPlace, reading, withPdfs } from '../../place.js';
import { sheet } from '../../shown/sheet.js';
import { type Explanation, explainRow, rowsOf } from './explanation.js';

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
    .argument('<id>', "the row's id (for certificates the id of the retirement)")
    .option('--as-of <instant>', `as it stood then: ${AN_INSTANT}`)
    .option('--json', 'print it as JSON')
    .action(async (table: string, id: string, options: Options) => {
      const entry = demandEntry(table);
      const at = readInstant(options.asOf ?? 'now', io.now());
      const place = findPlace(io);
      const all = await withPdfs(place, io.now, async pdfs =>
        reading(place, async reader => {
          const rows = rowsOf(entry, await findVersions(reader, entry, id));
          const explained: Explanation[] = [];
          for (const versions of rows)
            explained.push(await explainRow({ reader, pdfs, at }, entry, versions));
          return explained;
        }),
      );
      if (options.json) await writeValue(io, all);
      else for (const each of all) await print(io, ...linesOf(each));
      demandListed(all);
    });
  examples(command, [
    'carbon-mirror explain retirements 3f0c5d0e-8a51-4b6f-9d0f-6a1f6c8f2b11',
    'carbon-mirror explain warehouse_credits exPost-2-0xabc --as-of 2025-12-31',
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
  const { table, id, at, row, document, shown_by: shownBy, until, ended_by: endedBy } = explained;
  const lines = [`${table} ${id}, as told by ${at}`, ''];
  if (row === null) lines.push('It was not known to be listed then.');
  else lines.push(...sheet(row), ...showing(shownBy), ...seen(explained));
  if (until !== null)
    lines.push(`It was so until ${until}.`, ...(endedBy === null ? [] : [behind('Ended', endedBy)]));
  lines.push(...certificate(explained));
  if (explained.not_known.length > 0) {
    lines.push('', 'Not known:', ...explained.not_known.map(gap => `  ${gap}`));
  }
  if (document !== null) lines.push('', "The registry's own object:", ...document.split('\n'));
  return [...lines, ''];
}

function showing(run: ReadBehind | null): string[] {
  if (run === null) return ['The read that showed it is not on record any more.'];
  return [behind('Shown', run)];
}

function behind(what: string, run: ReadBehind): string {
  const answered = run.answered_at === null ? '' : `, answered ${run.answered_at}`;
  const ended =
    run.finished_at === null ? ', and has not ended' : `, ended ${run.finished_at} (${run.state})`;
  return `${what} by sync run ${run.id}: asked ${run.started_at}${answered}${ended}. ${askedBy(run)}`;
}

function askedBy({ trigger, job_id: job, delivery_id: id, delivery }: ReadBehind): string {
  const work = job === null ? '' : ` It was job ${job}.`;
  if (id === null) return `What asked for it: ${trigger}.${work}`;
  const came =
    delivery === null
      ? 'removed since'
      : `${delivery.event ?? 'of no known event'}, received ${delivery.received_at}`;
  return `What asked for it: delivery ${id} (${came}).${work}`;
}

function seen({ last_seen_at: at }: Explanation): string[] {
  return at === null ? [] : [`Last seen unchanged by the complete read that began ${at}.`];
}

function certificate({ certificate: stored }: Explanation): string[] {
  if (stored === null) return [];
  return [`Certificate: sha256 ${stored.sha256}; the file ${stored.file} is ${stored.state}.`];
}
