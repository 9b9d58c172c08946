import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Lines, at first those of the day, up to the next fifty. Good work takes away: a budget falls with it, and rises only with its reason in a line beside it. */
const BUDGETS: Readonly<Record<string, number>> = {
  /** 4 refuse a key of evidence that cannot be read, 2 log rejected webhooks by reason. */
  /** 11 end a count with the worker, and no process with its log. */
  'src/app': 2217,
  /** 150 play the past of the demo; 400 are the commands of evidence with the folder for an auditor, and what forget, purge, verify and doctor do of it. */
  /** 150 back all up and put it back. */
  /** 55 let a console compare with the registry, by a process of its own. */
  /** 40 renew a key and begin a log anew. */
  /** 35 say of a folder of evidence whose its rows are and what they add up to. */
  /** 15 refuse evidence of what is not sealed, and take the beginnings of ids there and of reservations. */
  /** 14 tell a filter that fits nothing that was ever held, and in an export of a date how far each list was known then. */
  /** 30 say what of the evidence was not checked or sealed, and how it begins; 15 that the registry did not carry out what it took. */
  /** 1 counts below what is available where the last read failed: a narrow terminal has no column for it. */
  /** 36 say how many faults there are, of how many organizations a sum is, what was not counted, never read or cannot be summed, and write one organization a row at a time. */
  /** 15 say of whom a list has nothing, end with 3 where it has nothing of anybody, and leave no half export. */
  'src/cli': 6400,
  /** A new room: the log of what was observed, its key and its checkpoints; 120 say of each organization what is whole. */
  /** 45 begin a log anew after a restore; 280 prove it to others. */
  /** 60 let a key sign the next one, 15 say on a page which checkpoint covers a row. */
  /** 10 say that what was erased since cannot be shown as of before. */
  /** 6 name the row that is not as it was sealed; 11 count what is not sealed yet, row by row. */
  'src/evidence': 1082,
  /** 280 are the stylesheet; the parts of a designed console carry the rest; 25 remember what looks at every row. */
  /** 50 say on the page of a delivery what it changed, of an organization what is available, and whose a certificate is. */
  /** 19 say what of a part of the warehouses is available, and how old the oldest of all that is. */
  /** 16 refuse a word of an address that its page or file does not know. */
  /** 14 say of tiles and charts what is in no sum, and know an address by the clock as it was set. */
  /** 8 keep new what stood still beside what followed, and say so where a page cannot be fetched whole. */
  /** 25 show as of an instant what was known then alone. */
  'src/console': 3960,
  /** Of these 300 fulfil the port of evidence on both engines. */
  /** 90 copy all files while they are used, and 180 move them into PostgreSQL. */
  /** 8 count the rows that break a law, beyond the five that are shown, and let no receiver into a database that files are moved to. */
  /** 7 let no step of a clock make a read long, and give no id of a delivery twice. */
  /** 3 answer no question of a database that files are moved to. */
  /** 12 find the certificates that could not be fetched. */
  'src/store': 8530,
  'src/inbox': 500,
  /** 50 pass a page that stands as it stood, and look for the rows of several at once. */
  'src/mirror': 2237,
  /** What adds up the balance came here from cli, 170 lines, where 540 went; then the table of lists, 250, where 600 went from cli and console; then all words of freshness, 120, of which six other files had some. */
  /** 140 draw the stock by day and what was retired by month, and name what may be chosen. */
  /** 30 count what a restore loses. */
  /** 80 leave rows between two days, and name what stands in few values. */
  /** 50 count how all warehouses stand and order all organizations where the rows are, for Now at 10,000 of them. */
  /** 8 add up what is left out of what was asked for, and 25 the rows of a list. */
  /** 46 let no list of a date or of now look newer than its last read: what was read by then, and what fails. */
  /** 17 tell an installation that never was from one that is gone. */
  /** 34 tell a job that was refused from one that found nothing, the last read of a list from those before, and a row that is gone from one never seen. */
  /** 18 count in charts what is in no sum. */
  /** 30 say of whom sums and charts are, and what could not be read. */
  'src/query': 3496,
  /** 60 know a page that stands as it stood without cutting it. */
  /** 5 call no secret what every JWT begins with, and take no digits without end. */
  'src/registry': 4300,
  'src/resources': 500,
  'src/sandbox': 5450,
  /** 4 look once a day at a reservation whose end is far. */
  /** 9 end our own run where its job is taken anew, and believe no answer that a retirement is gone but one. */
  /** 10 go on behind a project or a file that fails. */
  'src/sync': 2413,
  /** 15 came from app: how far a word is from another. */
  'src/text': 408,
  'src/webhook': 984,
  /** The call by message of both threads took 180 lines from webhook, store and app, and has 100 here. */
  'src/*.ts': 350,
  /** What was the past of eleven tables is JSON in one: how both dialects write and read that took 90 lines here and 50 in store, and 58,000 characters of SQL from every mirror. 20 tell a failed read's reason and since when. */
  migrations: 2500,
  /** 500 of evidence; 300 play every reason of freshness on both engines. */
  /** 200 of backup and restore. */
  /** 150 compare by a button, name near names and look at pages at twice their size. */
  /** 280 forge what is sealed, and play honestly. */
  /** 90 renew a key, put a log back and hand over hostile folders. */
  /** 150 look at each page of many organizations by the rules of axe, and draw all pages. */
  /** 110 hold the registry's JSON and the receiver against each mutant of them. */
  /** 115 hold the sums of lists, what is not judged yet, what could not be compared, and names that every object has. */
  /** 105 prove to a stranger as a task does, bring a dump back as a role that makes no schema, ask two questions more and run two examples. */
  /** 245 hold that no list looks newer than its last read, that evidence says what it does not prove, and what failed behind a green word. */
  /** 50 refuse words that no page knows and rows of another period, give leases a clock, read again what broke and let a hostile registry say to each its own. */
  /** 240 went where a file of tests starts a registry or a demo in a line, and a law each was added for what waits to be sealed, for failed reads below a table and for a retry. */
  /** 140 hold what was untrue of taken-over reads, old counts, pages that stood still, sums and what is missing. */
  /** 95 play eight more things that a clock, a stranger or a lying registry can do. */
  /** 57 hold what no sum has in it, a clock set back and one refused certificate. */
  /** 66 hold of whom lists, sums and files are, and which list was refused. */
  /** 34 play one that fails among many. */
  test: 53_810,
  /** 50 of evidence: who lies, and what helps. */
  docs: 900,
  'README.md': 100,
};

/** Made by a program, or measured: nobody reads them as prose, and tests hold them. */
const GENERATED = ['docs/schema.md', 'docs/promises.md', 'docs/figures.md'];
/** Of test/: what is compared with, what measures, and what others wrote. */
const NO_TESTS = /^test\/(?:fixtures|bench|torture)\/|node_modules/;

const ROOT = join(import.meta.dirname, '..');

function linesByRoom(): ReadonlyMap<string, number> {
  const counted = new Map<string, number>();
  for (const file of [...['src', 'migrations', 'test', 'docs'].flatMap(filesOf), 'README.md']) {
    const room = roomOf(file);
    if (room === null) continue;
    const lines = readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n').length;
    counted.set(room, (counted.get(room) ?? 0) + lines);
  }
  return counted;
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return files.map(file => file.slice(ROOT.length + 1));
}

function roomOf(file: string): string | null {
  const [top = '', room = '', deeper] = file.split('/');
  if (top === 'src') return deeper === undefined ? 'src/*.ts' : `${top}/${room}`;
  if (top === 'test') return /\.[jt]s$/.test(file) && !NO_TESTS.test(file) ? top : null;
  if (top === 'docs') return file.endsWith('.md') && !GENERATED.includes(file) ? top : null;
  return top;
}

function over(lines: ReadonlyMap<string, number>, budgets: Readonly<Record<string, number>>): string[] {
  return [...lines]
    .filter(([room, count]) => count > (budgets[room] ?? 0))
    .map(([room, count]) => `${room} has ${count} lines, its budget is ${budgets[room] ?? 0}`);
}

test('no room is larger than its budget', () => {
  expect(over(linesByRoom(), BUDGETS)).toEqual([]);
});

test('each budget is that of a room which is there', () => {
  expect([...linesByRoom().keys()].toSorted()).toEqual(Object.keys(BUDGETS).toSorted());
});

test('a room above its budget is told with its lines, and so is one without', () => {
  const lines = new Map([
    ['inbox', 4],
    ['sync', 3],
    ['attic', 1],
  ]);
  expect(over(lines, { inbox: 3, sync: 3 })).toEqual([
    'inbox has 4 lines, its budget is 3',
    'attic has 1 lines, its budget is 0',
  ]);
});
