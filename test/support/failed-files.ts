import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Writes down each test file that failed, a line each, where FAILED_FILES says. */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['FAILED_FILES'];
    if (file === undefined) return;
    const failed = new Set(modules.filter(module => !module.ok()).map(module => module.relativeModuleId));
    for (const name of failed) appendFileSync(file, `${name}\n`);
  }
}
