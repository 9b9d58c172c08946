import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

/** What was done, a line each. A line is written before its answer leaves, so whatever was told is there after a kill. */
export interface Journal {
  readonly lines: readonly string[];
  append(line: string): void;
  /** Writes it anew, with these lines alone. */
  rewrite(lines: readonly string[]): void;
  close(): void;
}

const FORM = '["carbon sandbox",2]';

export function openJournal(file: string): Journal {
  const lines = existsSync(file) ? readLines(file) : [];
  let fd = openSync(file, 'a', 0o600);
  let size = fstatSync(fd).size;
  if (size === 0) append(FORM);

  function append(line: string): void {
    if (fstatSync(fd).size !== size) throw new Error(`Another sandbox writes ${file}: stop one of the two`);
    size += writeSync(fd, `${line}\n`);
  }

  return {
    lines,
    append,
    rewrite(kept) {
      writeFileSync(`${file}.new`, [FORM, ...kept, ''].join('\n'), { mode: 0o600 });
      renameSync(`${file}.new`, file);
      closeSync(fd);
      fd = openSync(file, 'a');
      size = fstatSync(fd).size;
    },
    close: () => closeSync(fd),
  };
}

/** A last line without an end was never answered: it is cut off. */
function readLines(file: string): string[] {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf('\n') + 1;
  const [form, ...lines] = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  if (form !== FORM && !(form === undefined && FORM.startsWith(bytes.toString('utf8'))))
    throw new Error(`${file} is no journal that this sandbox reads: move it away`);
  if (end < bytes.length) truncateSync(file, end);
  return lines;
}
