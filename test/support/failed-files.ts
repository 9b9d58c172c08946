import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const ENDED_WELL: ReadonlySet<string> = new Set(['passed', 'skipped']);

/** Appends each test that failed, or passed only on a retry, to the file that FAILED_FILES names. */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['FAILED_FILES'];
    if (file === undefined) return;
    for (const module of modules) {
      for (const title of failedIn(module)) appendFileSync(file, `${module.relativeModuleId}\t${title}\n`);
    }
  }
}

function failedIn(module: TestModule): readonly string[] {
  const tests = [...module.children.allTests()];
  const failed = tests.filter(
    test => test.result().state === 'failed' || (test.diagnostic()?.retryCount ?? 0) > 0,
  );
  const titles = failed.map(({ fullName }) => fullName.replaceAll(/\s+/g, ' '));
  return ENDED_WELL.has(module.state()) || titles.length > 0 ? titles : ['the file as a whole'];
}
