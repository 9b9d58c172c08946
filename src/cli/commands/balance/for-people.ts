import { shortName } from '../../../text/clean.js';
import { plainTonnes } from '../../../text/tonnes.js';
import { withThousands } from '../../../text/thousands.js';
import { type Io, print } from '../../io.js';
import { type Row, writeRows } from '../../output/output.js';
import { type Line, microOf, type NamedLine } from './line.js';

interface Sheet {
  readonly title: string;
  readonly row: (line: NamedLine) => Row;
  /** Columns of tonnes. */
  readonly tonnes: readonly string[];
  /** What is said of those without a row, which are not shown. */
  readonly rest?: string;
}

const SHEETS: Readonly<Record<Line['identity'], Sheet>> = {
  retirements: {
    title: 'Retirements, against their own digits and the counters of certificates',
    row: line => ({
      organization_name: whose(line),
      counted: line.what,
      rows: line.rows,
      listed: tonnes(line.found_micro),
      kept: tonnes(line.expected_micro),
      ties: endOf(line),
    }),
    tonnes: ['listed', 'kept'],
  },
  credits: {
    title: 'Credits: what stood there at first, and what was seen to rise and to fall between reads since',
    row: line => ({
      organization_name: whose(line),
      place: line.what,
      type: line.type,
      credits: line.rows,
      since: line.opening_at === null ? null : `${line.opening_at.slice(0, 16)}Z`,
      opening: tonnes(line.opening_micro),
      rose: tonnes(line.risen_micro),
      fell: tonnes(line.fallen_micro),
      listed: tonnes(line.found_micro),
      ties: endOf(line),
    }),
    tonnes: ['opening', 'rose', 'fell', 'listed'],
  },
  projects: {
    title: 'Projects and vintages: what reservations and requests retired was seen to fall',
    row: line => ({
      project_and_vintage: line.what,
      retirements: line.rows,
      retired: tonnes(line.found_micro),
      fell: tonnes(line.expected_micro),
      unexplained: tonnes(line.unexplained_micro),
      ties: endOf(line),
    }),
    tonnes: ['retired', 'fell', 'unexplained'],
    rest: 'of which nothing was retired',
  },
  serials: {
    title: 'Serializations: each stands for one credit',
    row: line => ({ serializations: line.rows, ties: endOf(line) }),
    tonnes: [],
  },
};

/** A sheet for each identity, then what does not tie, and a last line that says it of all. */
export async function writeForPeople(
  io: Io,
  sums: readonly NamedLine[],
  loose: readonly NamedLine[],
): Promise<void> {
  for (const [identity, sheet] of Object.entries(SHEETS)) {
    const lines = sums.filter(line => line.identity === identity);
    if (lines.length > 0) await writeSheet(io, sheet, byName(lines));
  }
  if (loose.length > 0) {
    const rows = loose.map(line => `  ${`${whose(line)} ${shortName(line.what)}`.trim()}: ${line.why}`);
    await print(io, 'What does not tie:', ...rows, '');
  }
  const rest = sums.reduce((sum, line) => sum + microOf(line.unexplained_micro), 0n);
  if (rest > 0n) await print(io, `${tonnes(rest)} t of what was retired ${FROM_ELSEWHERE}`);
  if (!isNothingKnown(sums)) await print(io, verdictOn(sums));
}

const FROM_ELSEWHERE =
  'is explained by nothing that is mirrored: it may have come from an organization that is not.';

async function writeSheet(io: Io, sheet: Sheet, lines: readonly NamedLine[]): Promise<void> {
  const { title, row, tonnes: amounts, rest } = sheet;
  const told = lines.filter(line => rest === undefined || line.rows > 0 || line.ties !== 1);
  const rows = told.map(row);
  await print(io, title, '');
  if (rows.length > 0)
    await writeRows(io, 'table', Object.keys(rows[0] ?? {}), rows, { keep: ['ties'], tonnes: amounts });
  const left = lines.length - told.length;
  if (left > 0) await print(io, `${withThousands(left)}${rows.length > 0 ? ' more' : ''} ${rest}: they tie.`);
  await print(io, '');
}

function byName(lines: readonly NamedLine[]): NamedLine[] {
  const key = (line: NamedLine) => `${whose(line)}\0${line.what}`;
  return lines.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

function whose({ organization_name: name, organization_id: id }: NamedLine): string {
  return shortName(name ?? id ?? '');
}

function endOf({ ties }: Line): string {
  return ties === 1 ? 'ties' : ties === null ? 'not known yet' : 'DOES NOT TIE';
}

function tonnes(micro: bigint | null): string {
  return plainTonnes(microOf(micro));
}

export const NOTHING_KNOWN =
  'Nothing can be added up: no list of which a row stands had been read completely by then.';

/** Then nobody can say that it ties. */
export function isNothingKnown(sums: readonly Line[]): boolean {
  return sums.every(({ rows, opening_micro: opening }) => rows === 0 && microOf(opening) === 0n);
}

function verdictOn(sums: readonly Line[]): string {
  const count = (ties: Line['ties']) => sums.filter(line => line.ties === ties).length;
  const [loose, unknown] = [count(0), count(null)];
  const of = `of ${withThousands(sums.length)} sums`;
  const left = unknown === 0 ? '' : ` ${withThousands(unknown)} cannot be told yet.`;
  if (loose > 0) return `${withThousands(loose)} ${of} do not tie.${left}`;
  return unknown === 0 ? `All ${withThousands(sums.length)} sums tie.` : `What can be told ties.${left}`;
}
