import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../open.js';
import type { Insert } from '../../../mirror/port.js';
import { createCertificateFiles } from './files.js';
import { createMirrorOperations } from './mirror.js';
import type { Answers, Given, MirrorOperations, Name } from './operations.js';
import type {
  MirrorThreadData,
  ThreadAnswer,
  ThreadCommit,
  ThreadFault,
  ThreadPart,
  ThreadRequest,
} from './thread.js';

/** What runs in the thread: one connection, one operation after the other. */
function serve(port: MessagePort, { file, busyTimeoutMs, certificates }: MirrorThreadData): void {
  const db = openDatabase(file, { busyTimeoutMs });
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  const parts = new Map<number, Insert[]>();

  function keep({ part, of }: ThreadPart): void {
    const known = parts.get(of);
    if (known === undefined) parts.set(of, [...part]);
    else known.push(...part);
  }

  /** With the rows that came before it. */
  function wholeOf({ of, commit: [run, changes, ending] }: ThreadCommit): Given['commit'] {
    const inserts = parts.get(of) ?? [];
    parts.delete(of);
    return [run, { ...changes, inserts }, ending];
  }

  const tell = (answer: ThreadAnswer) => port.postMessage(answer);

  port.on('message', (request: ThreadRequest) => {
    if ('part' in request) return keep(request);
    const { id } = request;
    try {
      const answer =
        'commit' in request
          ? operations.commit(...wholeOf(request))
          : call(operations, request.name, request.given);
      tell({ id, answer });
    } catch (error) {
      tell({ id, fault: faultOf(error) });
    }
    return 'name' in request && request.name === 'close' ? port.close() : undefined;
  });
  port.postMessage(null);
}

function call<Each extends Name>(
  operations: MirrorOperations,
  name: Each,
  given: Given[Each],
): Answers[Each] {
  return operations[name](...given);
}

function faultOf(error: unknown): ThreadFault {
  if (!(error instanceof Error)) return { code: '', message: String(error), stack: '' };
  const { message, stack = '' } = error;
  return { code: 'code' in error ? String(error.code) : '', message, stack };
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    parentPort.postMessage(faultOf(error), []);
  }
}
