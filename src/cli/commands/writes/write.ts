import { installationJob } from '../../../inbox/job.js';
import type { Context } from '../../context.js';
import { CommandFault, EXIT, usageFault } from '../../exit.js';
import { cleanLine, type Io } from '../../io.js';
import type { Row } from '../../output/output.js';
import { sheet } from '../../output/sheet.js';

/** A write to the registry, once all that it is about was found. */
interface Write {
  /** Left out where nobody is asked. */
  readonly asks?: { readonly what: string; readonly yes: boolean };
  /** Which is looked at afterwards. */
  readonly installationId: string;
  /** Made once: the client itself looks for one whose answer was lost. Null where the registry shows what came of it no more. */
  readonly call: () => Promise<Row | null>;
  readonly tells: (row: Row | null) => readonly string[];
}

export async function write(context: Context, { asks, installationId, call, tells }: Write): Promise<void> {
  if (asks !== undefined) await confirm(context.io, asks.what, asks);
  const row = await call();
  if (context.format === 'json') await context.value(row);
  else if (row !== null) await context.print(...sheet({ ...row, document: null }));
  context.say(...tells(row));
  await lookAgain(context, installationId);
}

/**
 * Most of what an app does itself is followed by no webhook, so the mirror is told to read again.
 * The write has been done by now: whatever fails here must not make it look undone.
 */
async function lookAgain({ settings, inbox, say }: Context, installationId: string): Promise<void> {
  if (settings().engine.findMissing() !== null) return;
  try {
    await (await inbox()).enqueue([installationJob(installationId, null, 'person')]);
    say('The mirror shows it as soon as a worker has read it.');
  } catch (error) {
    say(`The mirror was not asked to read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Ask before what cannot be undone. Where nobody can be asked, `--yes` must have said it. */
export async function confirm(io: Io, what: string, options: { readonly yes?: boolean }): Promise<void> {
  if (options.yes) return;
  if (!io.terminal.stdin) {
    throw usageFault(`${what} This cannot be undone.`, 'Add --yes to do it without a question.');
  }
  io.stderr.write(`${cleanLine(what)} This cannot be undone. Go on? [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return;
  throw new CommandFault(EXIT.interrupted, 'Nothing was done.');
}

/** The terminal stays as it is, so that Ctrl-C ends the process; the end of the input is an empty line. */
async function readLine(io: Io): Promise<string> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    return await new Promise<string>(resolve => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    io.stdin.pause();
  }
}
