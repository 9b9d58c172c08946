import { cleanLine, type Io } from '../io.js';

/** Shows what a long command is doing, in one line of the terminal that each call replaces. Null removes the line. */
export type ShowProgress = (text: string | null) => void;

const ERASE_LINE = '\r\u001B[K';

/** Creates the progress line of a command. Without a terminal, nothing is shown. */
export function createProgress({
  stderr,
  terminal,
  columns,
}: Pick<Io, 'stderr' | 'terminal' | 'columns'>): ShowProgress {
  if (!terminal.stderr) return () => undefined;
  return text => {
    const line = text === null ? '' : `${cleanLine(text)} ...`.slice(0, columns - 1);
    stderr.write(`${ERASE_LINE}${line}`);
  };
}
