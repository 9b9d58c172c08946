import { expect, test } from 'vitest';
import { nameCertificate } from '../../src/text/certificate-name.js';

const PARTS = {
  retiredAt: '2026-08-08T10:00:00.000Z',
  beneficiary: 'Quillford Freight',
  amount: '2200',
  retirementId: '7023a782-1111-2222',
};

test('a certificate is named by date, beneficiary, tonnes and the start of its id', () => {
  expect(nameCertificate(PARTS)).toBe('2026-08-08 Quillford Freight 2200 t 7023a782.pdf');
  expect(nameCertificate({ ...PARTS, beneficiary: 'Zoë & Söhne GmbH', amount: '0.5' })).toBe(
    '2026-08-08 Zoë Söhne GmbH 0.5 t 7023a782.pdf',
  );
  expect(nameCertificate({ ...PARTS, retiredAt: null, beneficiary: null, amount: null })).toBe(
    '7023a782.pdf',
  );
});

test.each([
  '../../etc/passwd',
  '..\\..\\x',
  '.hidden',
  '-rf',
  'a/b:c*?"<>|',
  'a\u202egnp',
  'a\0b',
  '...',
  'CON\n',
])('a beneficiary never becomes a path: %j', beneficiary => {
  const name = nameCertificate({ ...PARTS, beneficiary, retirementId: '../../7023' });
  expect(name).toMatch(/^[\p{L}\p{N}][\p{L}\p{N} .-]*\.pdf$/u);
  expect(name).not.toContain('..');
});

test('a long beneficiary is shortened', () => {
  expect(nameCertificate({ ...PARTS, beneficiary: 'x'.repeat(1_000) }).length).toBeLessThan(120);
});
