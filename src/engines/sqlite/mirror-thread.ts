import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../database/open.js';
import { createCertificateFiles } from './files.js';
import { createMirrorOperations } from './mirror.js';
import type { Answers, Given, MirrorOperations, Name } from './operations.js';
import type { MirrorThreadData, ThreadAnswer, ThreadCall, ThreadFault } from './thread.js';

/** What runs in the thread: one connection, one operation after the other. */
function serve(port: MessagePort, { file, busyTimeoutMs, certificates }: MirrorThreadData): void {
  const db = openDatabase(file, { busyTimeoutMs });
  const operations = createMirrorOperations(db, createCertificateFiles(certificates));
  port.on('message', ({ id, name, given }: ThreadCall) => {
    port.postMessage(answerOf(operations, id, name, given));
    if (name === 'close') port.close();
  });
  port.postMessage(null);
}

function answerOf<Each extends Name>(
  operations: MirrorOperations,
  id: number,
  name: Each,
  given: Given[Each],
): ThreadAnswer {
  try {
    const answer: Answers[Name] = operations[name](...given);
    return { id, answer };
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
