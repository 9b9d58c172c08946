import { MIRROR_ERROR_CODES, MirrorError } from '../../../mirror/errors.js';
import type { Insert, MirrorPort } from '../../../mirror/port.js';
import { builtBeside } from '../../../package.js';
import { type Fault, startThread, type ThreadOptions } from '../../../thread.js';
import type { Sqlite } from '../open.js';
import { createWorks, databaseOf, type Works } from '../database.js';
import { createTurns } from '../turns.js';
import { createMirrorStore } from '../../mirror/mirror.js';
import { createCall } from './mirror.js';
import { type Answers, type Call, type Given, type Name, portOf } from './operations.js';

/** What the thread is started with. */
export interface MirrorThreadData {
  /** A mirror.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  /** The folder of certificate files. */
  readonly certificates: string;
}

export interface MirrorThreadOptions extends MirrorThreadData, Pick<ThreadOptions, 'failed'> {
  /** A connection of this thread, for what only looks. Who opened it closes it, after the port. */
  readonly reader: Sqlite;
  readonly entry?: URL;
}

/** Rows of a commit that follows: to copy all at once would hold up whoever sends them. */
export interface Parts {
  readonly keep: (of: number, inserts: readonly Insert[]) => void;
  readonly commitKept: (of: number, ...given: Given['commit']) => Answers['commit'];
}

type GivenOfParts = { readonly [Each in keyof Parts]: Parameters<Parts[Each]> };
type GivenOfWorks = { readonly [Each in keyof Works]: Parameters<Works[Each]> };
type AnswersOfWorks = { readonly [Each in keyof Works]: ReturnType<Works[Each]> };
type AnswersOfParts = { readonly [Each in keyof Parts]: ReturnType<Parts[Each]> };

const ROWS_A_MESSAGE = 200;
const ENTRY = builtBeside(import.meta.url, './mirror-thread.js');

/** Operations that only look: nobody waits for these, so they are done at once on the reader. */
const LOOKS: ReadonlySet<Name> = new Set<Name>([
  'pages',
  'find',
  'after',
  'forgottenPeople',
  'dueCertificates',
  'freshnessFacts',
  'knownResources',
]);

/**
 * The port with a thread of its own for all that writes: neither a long transaction nor a flush to disk, nor a wait for a
 * lock, stops the worker from reading the registry. Writes are done in the order in which they were asked for; what only
 * looks sees every write that was answered.
 */
export async function startMirrorThread(options: MirrorThreadOptions): Promise<MirrorPort> {
  const { file, busyTimeoutMs, certificates, reader, failed, entry = ENTRY } = options;
  const workerData: MirrorThreadData = { file, busyTimeoutMs, certificates };
  const what = 'the thread that writes the mirror';
  const { asking, close } = await startThread({ entry, workerData, what, failed, errorOf });
  const ask: Call = asking<Given, Answers>();
  const askInParts = asking<GivenOfParts, AnswersOfParts>();
  const askWorks = asking<GivenOfWorks, AnswersOfWorks>();
  const turns = createTurns();
  const look = createCall(reader, certificates);
  const works = createWorks(reader);
  const database = databaseOf(
    {
      send: (...given) => askWorks('send', given),
      end: (...given) => askWorks('end', given),
    },
    { send: async (...given) => works.send(...given) },
    turns,
  );
  let commits = 0;

  async function commit(...[sync, changes, ending]: Given['commit']): Promise<Answers['commit']> {
    const of = commits++;
    for (let start = 0; start < changes.inserts.length; start += ROWS_A_MESSAGE)
      await askInParts('keep', [of, changes.inserts.slice(start, start + ROWS_A_MESSAGE)]);
    return await askInParts('commitKept', [of, sync, { ...changes, inserts: [] }, ending]);
  }

  async function write<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const done = await turns.take();
    return await work().finally(done);
  }

  return {
    ...portOf((name, given) => (LOOKS.has(name) ? look(name, given) : write(() => ask(name, given)))),
    ...createMirrorStore(database),
    commit: (...given) => write(() => commit(...given)),
    close,
  };
}

/** As it was thrown in the thread, and where: who catches it goes by its code. */
function errorOf({ code, message, stack }: Fault): Error {
  const known = MIRROR_ERROR_CODES.find(each => each === code);
  if (known !== undefined) return Object.assign(new MirrorError(known, message), { stack });
  return Object.assign(new Error(message), { stack }, code === '' ? {} : { code });
}
