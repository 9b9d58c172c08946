import { setTimeout as sleep } from 'node:timers/promises';
import { type ChangesAsked, readBetween, readLastNumber } from '../../../query/history/changes.js';
import type { Context } from '../../context.js';
import { CommandFault, EXIT } from '../../exit.js';
import { isAway } from '../../faults/explain.js';
import { emit } from '../../io.js';
import { jsonText } from '../../output/output.js';
import { parseChange } from '../../../text/change.js';

const ASK_AGAIN_MS = 1000;

/** Whoever keeps the number of the last line and begins after it sees each change once, however often either side is stopped. */
export async function followChanges(
  { io, reader: open, say }: Context,
  asked: ChangesAsked,
  after: number | null,
): Promise<void> {
  const reader = await open();
  const interrupted = io.interruption();
  let seen = after ?? (await readLastNumber(reader));
  say(`Waiting for changes after number ${seen}; Ctrl-C stops.`);
  async function tellNew(): Promise<void> {
    const last = await readLastNumber(reader);
    if (last < seen) throw new OtherMirror(seen, last);
    for await (const row of readBetween(reader, asked, seen, last)) {
      await emit(io, `${jsonText(parseChange(row))}\n`);
      seen = row.number;
      if (interrupted.aborted) throw leftAfter(seen);
    }
    seen = last;
  }

  for (let isToldAway = false; !interrupted.aborted; ) {
    try {
      await tellNew();
      isToldAway = false;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!isToldAway) say(`${error.message}. It is asked again each second; Ctrl-C stops.`);
      isToldAway = true;
    }
    await sleep(ASK_AGAIN_MS, undefined, { signal: interrupted }).catch(() => undefined);
  }
  throw leftAfter(seen);
}

function leftAfter(number: number): CommandFault {
  return new CommandFault(EXIT.interrupted, `Interrupted. Go on with --after ${number}.`);
}

class OtherMirror extends CommandFault {
  constructor(seen: number, last: number) {
    super(
      EXIT.checkFailed,
      `The newest change of this mirror has number ${last}, less than ${seen}: this is another mirror, or it was made anew.`,
      'Begin again with an empty copy and --after 0.',
    );
  }
}
