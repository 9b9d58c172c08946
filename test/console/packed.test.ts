import { expect, test } from 'vitest';
import { openConsoleStage } from '../support/console.js';
import { credit } from '../support/mirror/rows.js';

async function openLargeMirror() {
  const { scene, sendRaw: ask, cookie } = await openConsoleStage();
  await scene.read(
    'warehouse',
    Array.from({ length: 50 }, (_, index) => credit(`c-${index}`, { vintage: String(2000 + (index % 30)) })),
  );
  const visit = async (path: string, ...lines: readonly string[]) =>
    await ask(`GET ${path}`, 'host: localhost', `cookie: ${cookie}`, ...lines);
  return { visit };
}

const TAKES = 'accept-encoding: gzip, deflate, br';
const PACKED = /^content-encoding: gzip\r$/im;

test.each(['/', '/warehouse', '/console.css'])(
  '%s is compressed only for clients that accept it',
  async path => {
    const { visit } = await openLargeMirror();
    const packed = await visit(path, TAKES);
    const whole = await visit(path);
    expect(packed).toMatch(PACKED);
    expect(packed).toMatch(/^vary: accept-encoding\r$/im);
    expect(whole).not.toMatch(PACKED);
    expect(await visit(path, 'accept-encoding: gzip;q=0')).not.toMatch(PACKED);
    expect(packed.length).toBeLessThan(whole.length / 2);
  },
);

test.each(['/nothing', '/console.js'])('an answer of at most 4 kB is not compressed: %s', async path => {
  const { visit } = await openLargeMirror();
  expect(await visit(path, TAKES)).not.toMatch(PACKED);
});

test.each(['/?all=exPost', '/warehouse?vintage=2001', '/search?q=exPost', '/ask?sql=select'])(
  'T83 an answer to a URL with parameters is not compressed: %s',
  async path => {
    const { visit } = await openLargeMirror();
    expect(await visit(path, TAKES)).not.toMatch(PACKED);
  },
);
