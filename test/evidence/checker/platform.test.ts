import { describe, expect, onTestFinished, test } from 'vitest';
import { checkEvidence, type CheckRequest } from '../../../src/evidence/checker/check.js';
import { checkContent, type FolderContent, readContent } from '../../support/evidence-folder.js';
import { openForgeableLog } from '../../support/exported-evidence.js';
import { ENGINES } from '../../support/mirror/open.js';

type Subtle = Pick<typeof crypto.subtle, 'digest' | 'importKey' | 'verify'>;

const real: Subtle = {
  digest: crypto.subtle.digest.bind(crypto.subtle),
  importKey: crypto.subtle.importKey.bind(crypto.subtle),
  verify: crypto.subtle.verify.bind(crypto.subtle),
};

/** Replaces Web Cryptography until the test ends. */
function breakPlatform(subtle: Partial<Subtle> | undefined): void {
  const original = crypto.subtle;
  const define = (value: unknown) =>
    Object.defineProperty(crypto, 'subtle', { value, configurable: true, writable: true });
  define(subtle && { ...real, ...subtle });
  onTestFinished(() => void define(original));
}

const fail = async (): Promise<never> => Promise.reject(new Error('EIO'));

/** Fails at one call of a function, and works at all others. */
function failAt<Values extends unknown[], Result>(at: number, work: (...values: Values) => Promise<Result>) {
  let calls = 0;
  return async (...values: Values): Promise<Result> => {
    calls += 1;
    return calls - 1 === at ? await fail() : await work(...values);
  };
}

async function openFolder() {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('expected an engine');
  const { write, hex, olderCheckpoint } = await openForgeableLog(engine);
  const content = readContent((await write('organization-1')).folder);
  const check = (changes: Partial<CheckRequest> = {}) =>
    checkEvidence({ files: toFiles(content), key: hex, olderCheckpoint, ...changes });
  return { content, hex, olderCheckpoint, check };
}

function toFiles(content: FolderContent) {
  return new Map(
    [...content].map(([name, bytes]) => [name, { size: bytes.length, read: async () => bytes }] as const),
  );
}

const PLATFORMS: readonly (readonly [string, () => Partial<Subtle> | undefined])[] = [
  ['has no Web Cryptography', () => undefined],
  ['has no Ed25519', () => ({ importKey: fail })],
  ['cannot verify', () => ({ verify: fail })],
  ['accepts every signature', () => ({ verify: async () => true })],
  ['refuses every signature', () => ({ verify: async () => false })],
  ['answers "true" as text', () => ({ verify: async () => JSON.parse('"true"') })],
  ['has a constant digest', () => ({ digest: async () => new ArrayBuffer(32) })],
  ['has a digest of another length', () => ({ digest: async () => new ArrayBuffer(0) })],
  ['has no SHA-256', () => ({ digest: fail })],
  ...[0, 1, 2, 5, 10, 20, 40, 80].map(
    at => [`fails at digest ${at}`, () => ({ digest: failAt(at, real.digest) })] as const,
  ),
  ...[0, 1, 2].map(at => [`fails at signature ${at}`, () => ({ verify: failAt(at, real.verify) })] as const),
];

describe('the checker on a platform that', () => {
  test.each(PLATFORMS)('T93 %s could not check, and gives out no row', async (_name, create) => {
    const { check } = await openFolder();
    expect(await check()).toMatchObject({ verdict: 'verified' });
    breakPlatform(create());
    const { verdict, faults, evidence } = await check();
    expect(verdict, faults.join()).toBe('could not be checked');
    expect(evidence).toBeNull();
    expect(faults).toHaveLength(1);
  });

  test('T93 breaks after a fault was found could not check', async () => {
    const { content, check } = await openFolder();
    const files = toFiles(new Map(content).set('evidence.jsonl', Buffer.from('{}\n')));
    expect(await check({ files })).toMatchObject({ verdict: 'not verified' });
    breakPlatform({ digest: failAt(2, real.digest) });
    expect(await check({ files })).toMatchObject({ verdict: 'could not be checked' });
  });

  test('T93 cannot read a file, or reads less of it than there is, could not check', async () => {
    const { content, check } = await openFolder();
    for (const name of content.keys()) {
      if (!/evidence|checkpoint|certificates/.test(name)) continue;
      const bytes = content.get(name) ?? Buffer.of();
      for (const read of [fail, async () => bytes.subarray(1), async () => Buffer.of()]) {
        const files = toFiles(content).set(name, { size: bytes.length, read });
        expect(await check({ files }), name).toMatchObject({
          verdict: 'could not be checked',
          evidence: null,
        });
      }
    }
  });

  test('T93 fails while it shows progress could not check', async () => {
    const { check } = await openFolder();
    const onProgress = () => {
      throw new Error('no screen');
    };
    expect(await check({ onProgress })).toMatchObject({ verdict: 'could not be checked', evidence: null });
  });
});

describe('the checker', () => {
  test('T93 does not verify a folder without any one of its files, or an empty older checkpoint as none', async () => {
    const { content, hex, olderCheckpoint } = await openFolder();
    for (const name of [
      'evidence.jsonl',
      'checkpoint.txt',
      ...[...content.keys()].filter(each => each.endsWith('pdf')),
    ]) {
      const without = new Map(content);
      without.delete(name);
      const { verdict, output } = await checkContent(without, hex, olderCheckpoint);
      expect({ verdict, output }).toMatchObject({ verdict: 'not verified' });
      expect(output).toContain(`${name} is missing`);
    }
    expect(await checkContent(new Map(), hex)).toMatchObject({ verdict: 'not verified' });
    const blank = await checkContent(content, hex, ' \n');
    expect(blank.output).toContain('No older checkpoint was given');
  });

  test('T93 refuses a text or certificate that is larger than its limit without reading it', async () => {
    const { content, check } = await openFolder();
    const [pdf = ''] = [...content.keys()].filter(name => name.endsWith('.pdf'));
    for (const [name, size] of [
      ['evidence.jsonl', 256 * 2 ** 20 + 1],
      ['checkpoint.txt', 2 ** 40],
      [pdf, 32 * 2 ** 20 + 1],
    ] as const) {
      const files = toFiles(content).set(name, { size, read: fail });
      const { verdict, faults } = await check({ files });
      expect({ verdict, fault: faults[0] }).toMatchObject({
        verdict: 'not verified',
        fault: expect.stringContaining(name),
      });
    }
  });
});
