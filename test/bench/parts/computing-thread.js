import { Worker } from 'node:worker_threads';

const COMPUTE = `
  const { hash } = require('node:crypto');
  let document = {};
  for (;;) document = { hash: hash('sha256', JSON.stringify(document)) };
`;

/** Starts a thread that only computes and uses no database. Returns a function that stops it. */
export function startComputingThread() {
  const thread = new Worker(COMPUTE, { eval: true });
  return async () => {
    await thread.terminate();
  };
}
