import { expect, test } from 'vitest';
import { type EvidenceFile, readFolderTexts } from '../../../src/evidence/checker/folder-files.js';

const createFile = (content: string | Uint8Array, size?: number): EvidenceFile => {
  const bytes = Buffer.from(content);
  return { size: size ?? bytes.length, read: async () => bytes };
};

const CERTIFICATE = `certificates/${'a'.repeat(64)}.pdf`;

test.each<[string, string, EvidenceFile]>([
  ['evidence.jsonl is not UTF-8', 'evidence.jsonl', createFile(Uint8Array.of(0xff))],
  ['checkpoint.txt is not UTF-8', 'checkpoint.txt', createFile(Uint8Array.of(0xc3))],
  ['evidence.jsonl has more than 268435456 bytes', 'evidence.jsonl', createFile('', 2 ** 28 + 1)],
  [`${CERTIFICATE} has more than 33554432 bytes`, CERTIFICATE, createFile('', 2 ** 25 + 1)],
  ['certificates/a.pdf is not named after a hash', 'certificates/a.pdf', createFile('')],
  ['link is a link', 'link', { ...createFile(''), problem: 'a link' }],
])('T93 a folder is refused because %s', async (fault, name, file) => {
  const texts = { 'evidence.jsonl': createFile('{}'), 'checkpoint.txt': createFile('x') };
  const files = new Map<string, EvidenceFile>([...Object.entries(texts), [name, file]]);
  await expect(readFolderTexts(files)).rejects.toMatchObject({ name: 'EvidenceFault', message: fault });
});

test('the files of a folder that are not part of the format are listed by name', async () => {
  const names = ['evidence.jsonl', 'checkpoint.txt', CERTIFICATE, 'readme.md', 'check.html'];
  const files = new Map(names.map(name => [name, createFile(name)]));
  expect(await readFolderTexts(files)).toEqual({
    lines: 'evidence.jsonl',
    checkpoint: 'checkpoint.txt',
    uncheckedFiles: ['check.html', 'readme.md'],
  });
});
