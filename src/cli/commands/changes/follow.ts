import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader } from '../../../engines/contract/reader.js';
import { type ChangesAsked, readBetween, readLastNumber } from '../../../query/past/changes.js';
import { CommandFault, EXIT } from '../../exit.js';
import { emit, type Io, say } from '../../io.js';
import { jsonText } from '../../output/output.js';
import { parseChange } from '../../../text/change.js';

const POLL_MS = 250;

/** Whoever keeps the number of the last line and begins after it sees each change once, however often either side is stopped. */
export async function followChanges(
  io: Io,
  reader: Reader,
  asked: ChangesAsked,
  after: number | null,
): Promise<void> {
  const interrupted = io.interruption();
  let seen = after ?? (await readLastNumber(reader));
  say(io, `Waiting for changes after number ${seen}; Ctrl-C stops.`);
  while (!interrupted.aborted) {
    const last = await readLastNumber(reader);
    if (last < seen) throw new OtherMirror(seen, last);
    for await (const row of readBetween(reader, asked, seen, last)) {
      await emit(io, `${jsonText(parseChange(row))}\n`);
      if (interrupted.aborted) throw leftAfter(row.number);
    }
    seen = last;
    await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
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
      `The newest change of this mirror has number ${last}, less than ${seen}: it is another one, or was made anew.`,
      'Begin again with an empty copy and --after 0.',
    );
  }
}
