import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = new URL('./', import.meta.url);
const document = readFileSync(new URL('../docs/threats.md', import.meta.url), 'utf8');
const rows = Array.from(
  document.matchAll(/^\| (T\d\d) \| .+ \| (.+) \|$/gm),
  ([, code = '', tests = '']) => ({
    code,
    files: Array.from(tests.matchAll(/`([^`]+\.test\.ts)`/g), match => match[1] ?? ''),
  }),
);

function carries(file: string, code: string): boolean {
  return new RegExp(`['"\`][^'"\`\\n]*\\b${code}\\b`).test(readFileSync(new URL(file, FOLDER), 'utf8'));
}

test('every threat has a test whose title carries its code, in each file that the document names', () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const { code, files } of rows) {
    expect(files, code).not.toHaveLength(0);
    for (const file of files) expect(carries(file, code), `${code} in ${file}`).toBe(true);
  }
});

test('every code that a test carries is in the document, with its file', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map(file => file.replaceAll('\\', '/'))
    .filter(file => file.endsWith('.test.ts') && file !== 'threats.test.ts');
  for (const file of files) {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const titles = text.matchAll(/\b(?:test|it|describe)\(\s*['"`](T\d\d) /g);
    for (const [, code] of titles) {
      expect(rows.find(row => row.code === code)?.files, `${code} is tested in ${file}`).toContain(file);
    }
  }
});
