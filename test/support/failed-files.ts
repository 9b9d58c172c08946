import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const SUCCESSFUL_STATES: ReadonlySet<string> = new Set(['passed', 'skipped']);

/** Appends each test that failed, or passed only on a retry, to the file that FAILED_FILES names. */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['FAILED_FILES'];
    if (file === undefined) return;
    for (const module of modules) {
      for (const title of listFailedTitles(module))
        appendFileSync(file, `${module.relativeModuleId}\t${title}\n`);
    }
  }
}

function listFailedTitles(module: TestModule): readonly string[] {
  const tests = [...module.children.allTests()];
  const failed = tests.filter(
    test => test.result().state === 'failed' || (test.diagnostic()?.retryCount ?? 0) > 0,
  );
  const titles = failed.map(({ fullName }) => fullName.replaceAll(/\s+/g, ' '));
  return SUCCESSFUL_STATES.has(module.state()) || titles.length > 0 ? titles : ['the file as a whole'];
}
