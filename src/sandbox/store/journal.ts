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

/** An append-only file that records one operation per line. Each line is written before the operation is answered. */
export interface Journal {
  /** The lines of the file when the journal was opened, without the header. */
  readonly lines: readonly string[];
  append(line: string): void;
  /** Replaces all lines of the journal file except the header, atomically. */
  rewrite(lines: readonly string[]): void;
  close(): void;
}

/** The first line of a journal: its format and version. */
const HEADER_LINE = '["carbon sandbox",2]';

/** Opens or creates a journal file. Throws if the file is not a journal of this version. */
export function openJournal(file: string): Journal {
  const lines = existsSync(file) ? readJournalLines(file) : [];
  let fd = openSync(file, 'a', 0o600);
  let size = fstatSync(fd).size;
  if (size === 0) append(HEADER_LINE);

  /** Appends a line to the journal file. Throws if another process has written to the file. */
  function append(line: string): void {
    if (fstatSync(fd).size !== size) throw new Error(`Another sandbox writes ${file}: stop one of the two`);
    size += writeSync(fd, `${line}\n`);
  }

  return {
    lines,
    append,
    /** Replaces all lines of the journal file except the header, atomically. */
    rewrite(newLines: readonly string[]): void {
      writeFileSync(`${file}.new`, [HEADER_LINE, ...newLines, ''].join('\n'), { mode: 0o600 });
      // If the process is killed, the file contains either all old lines or all new lines.
      renameSync(`${file}.new`, file);
      closeSync(fd);
      fd = openSync(file, 'a');
      size = fstatSync(fd).size;
    },
    close: () => closeSync(fd),
  };
}

/** Reads the lines of a journal file, without the header. Removes an incomplete last line from the file. */
function readJournalLines(file: string): string[] {
  // The operation of an incomplete line was never answered.
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf('\n') + 1;
  const [header, ...lines] = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  const isIncompleteHeader = header === undefined && HEADER_LINE.startsWith(bytes.toString('utf8'));
  if (header !== HEADER_LINE && !isIncompleteHeader)
    throw new Error(`${file} is not a journal of this version of the sandbox: move it away`);
  if (end < bytes.length) truncateSync(file, end);
  return lines;
}
