// npm run torture -- receiver [KILLS]: kills the receiver under load. No delivery that was answered 202 may be lost, and none may be
// half-written. A control run that answers before the commit must lose deliveries; otherwise the test would prove nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killReceiver } from '../support/kill-receiver.js';
import { readSizes } from './read-sizes.js';

const [kills = 0] = readSizes(['110'], ['2']).map(Number);
const CONNECTIONS = 32;
const ANSWERED_PER_LIFE = 500;

/**
 * @param {string} title
 * @param {number} lives
 * @param {'' | 'answer-first'} mutant
 */
async function torture(title, lives, mutant) {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-torture-'));
  try {
    const result = await killReceiver({
      folder,
      kills: lives,
      connections: CONNECTIONS,
      answeredPerLife: ANSWERED_PER_LIFE,
      mutant,
      progress: (life, acknowledged) => {
        if (life % 10 === 0) console.log(`  ${life} kills, ${acknowledged} acknowledged`);
      },
    });
    console.log(
      `${title}: ${result.kills} kills, ${result.killsUnderLoad} of them with ${CONNECTIONS} posts in flight, ` +
        `${result.acknowledged} acknowledged, ${result.stored} stored, ${result.lost} lost, ${result.halfWritten} half-written`,
    );
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const real = await torture('answered after the commit', kills, '');
const broken = await torture('answered before the commit', Math.min(10, kills), 'answer-first');
const enough = kills < 100 || (real.killsUnderLoad >= 90 && real.acknowledged >= 50_000);
const passed = real.lost === 0 && real.halfWritten === 0 && broken.lost > 0 && enough;
console.log(passed ? 'passed' : 'FAILED');
process.exitCode = passed ? 0 : 1;
