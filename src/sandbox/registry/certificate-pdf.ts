import { createHash } from 'node:crypto';

export interface CertificateData {
  readonly registryName: string;
  readonly projectName: string;
  readonly projectNumber: string;
  readonly projectCountry: string;
  readonly serialization: string;
  readonly vintage: string;
  /** Tonnes. */
  readonly amount: number;
  readonly beneficiary: string;
  readonly reason: string;
  readonly comment: string;
  /** ISO 8601, UTC. */
  readonly retiredAt: string;
  readonly retirementId: string;
  readonly organizationName: string;
}

/** PDF operators of one A4 page. The words in capitals are placeholders. All texts use a fixed-width font. */
const PAGE = `0.99 0.98 0.96 rg 0 0 595 842 re f
0.05 0.28 0.22 RG 2.6 w 22 22 551 798 re S
0.69 0.55 0.25 RG 0.7 w 28 28 539 786 re S 84 664 427 0 re S 84 96 427 0 re S
0.05 0.28 0.22 rg
BT /F0 10 Tf 84 750 Td (REGISTRY) Tj ET
BT /F1 33 Tf 84 700 Td (Certificate of Retirement) Tj ET
0.12 0.15 0.14 rg
BT /F0 10 Tf 84 630 Td (This certifies that the carbon credits named below) Tj ET
BT /F0 10 Tf 84 616 Td (were permanently retired for the benefit of) Tj ET
BT /F0 14 Tf 84 584 Td (BENEFICIARY) Tj ET
BT /F0 28 Tf 84 520 Td (AMOUNT) Tj ET
BT /F0 9 Tf 84 500 Td (TONNES OF CARBON DIOXIDE EQUIVALENT) Tj ET
FACTS
0.42 0.45 0.43 rg
BT /F0 7 Tf 84 78 Td (Sandbox document, made by a test registry for the development of software. It stands for no) Tj ET
BT /F0 7 Tf 84 68 Td (real emission reduction, cannot be traded or claimed, and has no value outside its sandbox.) Tj ET`;

/** How many characters fit into a line, by font size. A line is 427 points wide, and a character 0.6 times the font size. */
const MAX_CHARACTERS = { 10: 54, 14: 50, 28: 25 } as const;

/** Creates the PDF certificate of a retirement. The same data always give the same bytes. */
export function createCertificatePdf(certificate: CertificateData): Buffer {
  const rows = [
    ['Project', certificate.projectName],
    ['Project number', `${certificate.projectNumber}, ${certificate.projectCountry}`],
    ['Serialization', certificate.serialization],
    ['Vintage', certificate.vintage],
    ['Reason', certificate.reason],
    ['Comment', certificate.comment],
    ['Retired by', certificate.organizationName],
    ['Date', certificate.retiredAt.slice(0, 'YYYY-MM-DD'.length)],
    ['Retirement id', certificate.retirementId],
  ] as const;
  const tableOperators = rows.map(([label, value], index) => {
    const y = 450 - 30 * index;
    return `BT /F0 8 Tf 84 ${y} Td (${label}) Tj ET\nBT /F0 10 Tf 185 ${y} Td (${toPdfLineText(value, 10)}) Tj ET`;
  });
  const beneficiary =
    certificate.beneficiary.trim() === '' ? certificate.organizationName : certificate.beneficiary;
  const valueByPlaceholder: Readonly<Record<string, string>> = {
    REGISTRY: toPdfLineText(certificate.registryName.toUpperCase(), 10),
    BENEFICIARY: toPdfLineText(beneficiary, 14),
    AMOUNT: toPdfLineText(String(certificate.amount), 28),
    FACTS: tableOperators.join('\n'),
  };
  const content = PAGE.replaceAll(
    /\b(?:REGISTRY|BENEFICIARY|AMOUNT|FACTS)\b/g,
    placeholder => valueByPlaceholder[placeholder] ?? placeholder,
  );
  const title = `Certificate of retirement ${certificate.retirementId}`;
  const subject = `${certificate.serialization}, ${certificate.amount} tonnes, for ${certificate.beneficiary}`;
  return assemblePdf(content, `/Title ${toPdfHexString(title)} /Subject ${toPdfHexString(subject)}`);
}

/** Assembles a one-page PDF file from the page's drawing operators and the document's title and subject. */
function assemblePdf(content: string, properties: string): Buffer {
  const id = createHash('sha256').update(content).update(properties).digest('hex').slice(0, 32);
  const font = (name: string) =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F0 6 0 R /F1 7 0 R >> >> /Contents 4 0 R >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< ${properties} >>`,
    font('Courier'),
    font('Times-Bold'),
  ];
  let body = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const entries = ['0000000000 65535 f \n'];
  for (const [index, object] of objects.entries()) {
    entries.push(`${String(body.length).padStart(10, '0')} 00000 n \n`);
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const trailer = `<< /Size ${entries.length} /Root 1 0 R /Info 5 0 R /ID [<${id}> <${id}>] >>`;
  const end = `trailer\n${trailer}\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}xref\n0 ${entries.length}\n${entries.join('')}${end}`, 'latin1');
}

/** Cuts a text to the length of one line, and escapes characters that are special in PDF strings. */
function toPdfLineText(text: string, fontSize: keyof typeof MAX_CHARACTERS): string {
  // A character that the font lacks loses its diacritics or becomes a question mark.
  const plain = Array.from(
    text
      .normalize('NFC')
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    character =>
      /[\x20-\x7e\xa1-\xff]/.test(character)
        ? character
        : character.normalize('NFKD').replaceAll(/\P{ASCII}/gu, '') || '?',
  ).join('');
  const limit = MAX_CHARACTERS[fontSize];
  const cut = plain.length > limit ? `${plain.slice(0, limit - 3)}...` : plain;
  return cut.replaceAll(/[()\\]|[^\x20-\x7e]/g, character =>
    character < '\x7f' ? `\\${character}` : `\\${character.charCodeAt(0).toString(8)}`,
  );
}

/** Converts a text to a PDF hexadecimal string in UTF-16, which can hold every character. */
function toPdfHexString(text: string): string {
  const wellFormed = text.slice(0, 4000).replaceAll(/\p{Surrogate}/gu, '\ufffd');
  return `<FEFF${Buffer.from(wellFormed, 'utf16le').swap16().toString('hex')}>`;
}
