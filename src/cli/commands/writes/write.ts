import { installationJob } from '../../../inbox/job.js';
import { type Command, command } from '../../command.js';
import { confirm } from '../../confirm.js';
import type { Context } from '../../context.js';
import type { Row } from '../../output/output.js';
import { sheet } from '../../output/sheet.js';
import type { AllTaken, Meant } from '../../taken.js';

/** A write to the registry. Its call is made once; the client itself looks for one whose answer was lost. */
interface Write<W extends AllTaken, O extends AllTaken, Found, Made> {
  readonly says: string;
  readonly words?: W;
  /** With `yes` where a person is asked. */
  readonly options: O;
  /** What comes of it, as in `reservation`. */
  readonly what: string;
  readonly examples: readonly string[];
  /** Whom and what it is about. What is missing is told here, before anything is asked or sent. An installation that stands there is looked at afterwards. */
  readonly find: (context: Context, given: Meant<W> & Meant<O>) => Promise<Found>;
  readonly asks?: (found: Found, given: Meant<W> & Meant<O>) => string;
  readonly call: (found: Found, given: Meant<W> & Meant<O>) => Promise<Made>;
  /** Null where the registry shows it no more. */
  readonly shows: (made: Made, found: Found) => Row | null;
  readonly tells?: (made: Made, found: Found) => readonly string[];
}

// biome-ignore lint/complexity/noBannedTypes: a write that takes no words
export function write<O extends AllTaken, Found extends object, Made, W extends AllTaken = {}>(
  written: Write<W, O, Found, Made>,
): Command {
  const { says, words, options, what, examples, find, asks, call, shows, tells = () => [] } = written;
  return command({
    says,
    ...(words !== undefined && { words }),
    options,
    prints: { json: `print the ${what} as JSON` },
    examples,
    run: async (context, given) => {
      const found = await find(context, given);
      if (asks !== undefined)
        await confirm(context.io, asks(found, given), { yes: Reflect.get(given, 'yes') === true });
      const made = await call(found, given);
      const row = shows(made, found);
      if (context.format === 'json') await context.value(row);
      else if (row !== null) await context.print(...sheet({ ...row, document: null }));
      context.say(...tells(made, found));
      if ('installationId' in found) await lookAgain(context, String(found.installationId));
    },
  });
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
