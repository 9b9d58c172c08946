// npm run torture -- power [CUTS]: simulates power cuts under load. Only data that was flushed to disk survives, and no delivery that was
// answered 202 may be lost. A control run with synchronous=NORMAL must lose deliveries; otherwise the test would prove nothing. Needs
// Linux and a C compiler.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canCutPower, cutPower } from '../support/power-cut.js';
import { readSizes } from './read-sizes.js';

const [cuts = 0] = readSizes(['50'], ['1']).map(Number);

/**
 * @param {string} title
 * @param {number} times
 * @param {'' | 'unflushed'} mutant
 */
async function torture(title, times, mutant) {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-power-'));
  try {
    const result = await cutPower({ folder, cuts: times, connections: 32, answeredPerLife: 200, mutant });
    console.log(
      `${title}: ${result.cuts} cuts, ${result.acknowledged} acknowledged, ${result.lost} lost in ` +
        `${result.cutsThatLost} cuts, ${result.halfWritten} half-written`,
    );
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (canCutPower()) {
  const real = await torture('synchronous=FULL', cuts, '');
  const broken = await torture('synchronous=NORMAL', Math.min(cuts, 10), 'unflushed');
  const passed = real.lost === 0 && real.halfWritten === 0 && broken.lost > 0;
  console.log(passed ? 'passed' : 'FAILED');
  process.exitCode = passed ? 0 : 1;
} else {
  console.log('cannot cut the power here: this needs Linux and a C compiler (cc)');
  process.exitCode = 2;
}
