// npm run size: prints the lines of each module of src and of the tests, beside those of the newest tag. Nothing fails because of it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const COUNTED = /\.(ts|js)$/;
const NOT_OURS = /(^|\/)(node_modules|dist)\//;

const tag = newestTag();
const now = countLines(listWorkingFiles(), file => readFileSync(file, 'utf8'));
const before =
  tag === null ? new Map() : countLines(listTaggedFiles(tag), file => git(['show', `${tag}:${file}`]));

const modules = [...new Set([...now.keys(), ...before.keys()])];
const rows = modules
  .toSorted((a, b) => a.localeCompare(b))
  .map(module => {
    const lines = now.get(module) ?? 0;
    return { module, lines, ...(tag === null ? {} : { [tag]: before.get(module) ?? 0 }) };
  });
const total = rows.reduce((sum, row) => sum + row.lines, 0);
console.table([...rows, { module: 'total', lines: total }]);
if (tag === null) console.log('There is no tag yet to compare with.');

function newestTag() {
  try {
    return git(['describe', '--tags', '--abbrev=0']).trim();
  } catch {
    return null;
  }
}

/** @param {readonly string[]} args */
function git(args) {
  return execFileSync('git', args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function listWorkingFiles() {
  return ['src', 'migrations', 'test'].flatMap(top =>
    readdirSync(top, { recursive: true, encoding: 'utf8' })
      .map(file => join(top, file))
      .filter(file => isCounted(file) && statSync(file).isFile()),
  );
}

/** @param {string} commit */
function listTaggedFiles(commit) {
  return git(['ls-tree', '-r', '--name-only', commit, 'src', 'migrations', 'test'])
    .split('\n')
    .filter(isCounted);
}

/** @param {string} file */
function isCounted(file) {
  return COUNTED.test(file) && !NOT_OURS.test(file);
}

/**
 * A module is a folder of src; migrations and test are counted as wholes.
 * @param {string} file
 */
function moduleOf(file) {
  const [top = '', folder, ...rest] = file.split('/');
  return top === 'src' && rest.length > 0 ? `src/${folder}` : top;
}

/**
 * @param {readonly string[]} files
 * @param {(file: string) => string} read
 */
function countLines(files, read) {
  /** @type {Map<string, number>} */
  const lines = new Map();
  for (const file of files) {
    const module = moduleOf(file);
    lines.set(module, (lines.get(module) ?? 0) + read(file).split('\n').length - 1);
  }
  return lines;
}
