import type { Context } from './context.js';
import type { Run } from './worker.js';

export async function fetchCertificates(_context: Context, _run: Run): Promise<string> {
  return 'nothing due';
}
