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

  function commit({ id, of, commit: [run, changes, ending] }: ThreadCommit): ThreadAnswer {
    const inserts = parts.get(of) ?? [];
    parts.delete(of);
    return answerOf(id, () => operations.commit(run, { ...changes, inserts }, ending));
  }

  port.on('message', (request: ThreadRequest) => {
    if ('part' in request) return keep(request);
    if ('commit' in request) return port.postMessage(commit(request));
    const { id, name, given } = request;
    port.postMessage(answerOf(id, () => call(operations, name, given)));
    return name === 'close' ? port.close() : undefined;
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

function answerOf(id: number, work: () => Answers[Name]): ThreadAnswer {
  try {
    return { id, answer: work() };
  } catch (error) {
    return { id, fault: faultOf(error) };
  }
}

function faultOf(error: unknown): ThreadFault {
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  return { code: 'code' in error ? String(error.code) : '', message: error.message };
}

if (parentPort !== null) {
  try {
    serve(parentPort, workerData);
  } catch (error) {
    parentPort.postMessage(faultOf(error), []);
  }
}
