// A sandbox in a process of its own. Argument: its options as JSON. Prints its address when it is ready.
import { startSandbox } from '../../../dist/src/sandbox/start.js';

const sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '{}'));
process.stdout.write(`${sandbox.url}\n`);
process.once('SIGTERM', () => {
  void sandbox.close();
});
