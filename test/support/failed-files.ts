import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const ENDED_WELL: ReadonlySet<string> = new Set(['passed', 'skipped']);

/** Writes down each test file that failed or did not come to its end, a line each, where FAILED_FILES says. */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['FAILED_FILES'];
    if (file === undefined) return;
    const failed = new Set(
      modules.filter(module => !ENDED_WELL.has(module.state())).map(module => module.relativeModuleId),
    );
    for (const name of failed) appendFileSync(file, `${name}\n`);
  }
}
