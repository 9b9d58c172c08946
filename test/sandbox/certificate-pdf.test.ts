import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { type CertificateData, createCertificatePdf } from '../../src/sandbox/registry/certificate-pdf.js';

const DATA: CertificateData = {
  registryName: 'Carbon Credit Registry',
  projectName: 'Kaldidalur Reforestation',
  projectNumber: '14',
  projectCountry: 'Iceland',
  serialization: 'ICR-ISL-354-1-14-R-0-2021',
  vintage: '2021',
  amount: 1234.5,
  beneficiary: 'Nordlys Shipping',
  reason: 'Voluntary purposes',
  comment: 'Second quarter',
  retiredAt: '2024-03-12T23:30:00.000Z',
  retirementId: '7c0e1c5e-41aa-4d2e-9a55-0123456789ab',
  organizationName: 'Brimvik Marketplace',
};

const HOSTILE =
  'un(balanced \\ back\\\\slash ) Tj ET endstream endobj %%EOF\r\n\t\0 \u0141\u00f3d\u017a \u{1f600}\u200d\u{1f4a7} \u05e9\u05dc\u05d5\u05dd \u202etxt \ud800 \u201cquoted\u201d \u20ac';

const HOSTILE_DATA: CertificateData = {
  ...DATA,
  registryName: HOSTILE,
  projectName: HOSTILE.repeat(30),
  projectNumber: HOSTILE,
  projectCountry: HOSTILE,
  serialization: 'X'.repeat(5_000),
  vintage: HOSTILE,
  amount: 123_456_789_012.25,
  beneficiary: HOSTILE.repeat(100),
  reason: HOSTILE.repeat(10),
  comment: HOSTILE.repeat(10_000),
  retiredAt: HOSTILE,
  retirementId: 'y'.repeat(500),
  organizationName: HOSTILE.repeat(5),
};

const LITERAL = /\((?:\\[()\\]|\\[0-7]{3}|[^()\\])*\)/g;

test('a certificate shows the project, serialization, vintage, amount, beneficiary, reason, date and id', () => {
  const texts = readTexts(createCertificatePdf(DATA));
  expect(texts).toEqual(
    expect.arrayContaining([
      'Certificate of Retirement',
      'CARBON CREDIT REGISTRY',
      'Kaldidalur Reforestation',
      '14, Iceland',
      'ICR-ISL-354-1-14-R-0-2021',
      '2021',
      '1234.5',
      'Nordlys Shipping',
      'Voluntary purposes',
      'Second quarter',
      'Brimvik Marketplace',
      '2024-03-12',
      '7c0e1c5e-41aa-4d2e-9a55-0123456789ab',
    ]),
  );
  expect(texts.join(' ')).toContain('Sandbox document');
});

test('the same data give the same bytes in any time zone, and different data give different bytes', () => {
  const digests = ['Europe/Berlin', 'America/St_Johns', 'Pacific/Apia'].map(zone => {
    vi.stubEnv('TZ', zone);
    return sha256(createCertificatePdf(DATA));
  });
  vi.unstubAllEnvs();
  expect(new Set(digests).size).toBe(1);
  expect(sha256(createCertificatePdf({ ...DATA, amount: 1234.6 }))).not.toBe(digests[0]);
});

test.each([
  ['plain', DATA],
  ['hostile', HOSTILE_DATA],
  ['empty', { ...DATA, beneficiary: '', reason: '', comment: '', projectName: '' }],
])('A certificate of %s facts is a well-formed PDF of one page', (_, facts) => {
  const pdf = createCertificatePdf(facts);
  expectWellFormed(pdf);
  expect(pdf.toString('latin1').match(/\/Type \/Page /g)).toHaveLength(1);
});

test('hostile text cannot leave its PDF string or the frame of the page', () => {
  const content = readPageContent(createCertificatePdf(HOSTILE_DATA));
  expect(content).toMatch(/^[\x20-\x7e\n]*$/);
  expect(content.replace(LITERAL, '')).not.toMatch(/[()\\]/);
  const places = [...content.matchAll(/([\d.-]+) ([\d.-]+) Td /g)].map(match => [
    Number(match[1]),
    Number(match[2]),
  ]);
  expect(places.length).toBeGreaterThan(20);
  for (const [x = 0, y = 0] of places) {
    expect(x).toBeGreaterThan(40);
    expect(y).toBeGreaterThan(40);
  }
  for (const [, size, x, text = ''] of content.matchAll(/\/F0 (\d+) Tf (\d+) \d+ Td \((.*)\) Tj/g))
    expect(Number(x) + 0.6 * Number(size) * unescapeText(text).length).toBeLessThan(555);
});

test('characters that the fonts lack are replaced on the page and kept in the document properties', () => {
  const pdf = createCertificatePdf({ ...DATA, beneficiary: '\u0141\u00f3d\u017a \u2013 \u6c34 \u{1f600}' });
  expect(readTexts(pdf)).toContain('?\u00f3dz ? ? ?');
  const kept = Buffer.from('\u0141\u00f3d\u017a \u2013 \u6c34 \u{1f600}', 'utf16le').swap16().toString('hex');
  expect(pdf.toString('latin1').toLowerCase()).toContain(kept);
});

function expectWellFormed(pdf: Buffer): void {
  const text = pdf.toString('latin1');
  expect(text.startsWith('%PDF-1.4\n')).toBe(true);
  expect(text.endsWith('%%EOF\n')).toBe(true);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const [, count = '', entries = ''] =
    /^xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] \n)+)trailer/.exec(text.slice(start)) ?? [];
  const offsets = [...entries.matchAll(/(\d{10}) \d{5} n/g)].map(match => Number(match[1]));
  expect(offsets).toHaveLength(Number(count) - 1);
  offsets.forEach((offset, index) => {
    expect(text.slice(offset)).toMatch(new RegExp(`^${index + 1} 0 obj\\n`));
  });
  const length = Number(/\/Length (\d+)/.exec(text)?.[1]);
  expect(readPageContent(pdf)).toHaveLength(length);
}

function readPageContent(pdf: Buffer): string {
  return /stream\n([^]*)\nendstream\nendobj\n5 0 obj/.exec(pdf.toString('latin1'))?.[1] ?? '';
}

function readTexts(pdf: Buffer): string[] {
  return (readPageContent(pdf).match(LITERAL) ?? []).map(literal => unescapeText(literal.slice(1, -1)));
}

function unescapeText(text: string): string {
  return text.replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
  );
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
