import { createHash } from 'node:crypto';
import { FONTS, type Face, measureText } from './fonts.js';
import { literalString, unicodeString } from './winansi.js';

export const A4 = { width: 595.28, height: 841.89 } as const;

export type Colour = readonly [red: number, green: number, blue: number];
export type Point = readonly [x: number, y: number];

/** Every drawing function answers PDF operators; y counts from the top of the page. */
export function drawText(text: string, face: Face, [x, y]: Point, colour: Colour): string {
  const font = `/F${FONTS.indexOf(face.font)} ${short(face.size)} Tf ${short(face.spacing ?? 0)} Tc`;
  return `BT ${fill(colour)} ${font} ${short(x)} ${short(A4.height - y)} Td ${literalString(text)} Tj ET`;
}

export function drawCentred(text: string, face: Face, [x, y]: Point, colour: Colour): string {
  const width = measureText(text, face) - (face.spacing ?? 0);
  return drawText(text, face, [x - width / 2, y], colour);
}

export function drawFrame(inset: number, lineWidth: number, colour: Colour): string {
  const size = `${short(A4.width - 2 * inset)} ${short(A4.height - 2 * inset)}`;
  return `${stroke(colour)} ${short(lineWidth)} w ${short(inset)} ${short(inset)} ${size} re S`;
}

export function drawPage(colour: Colour): string {
  return `${fill(colour)} 0 0 ${A4.width} ${A4.height} re f`;
}

export function drawLine(points: readonly Point[], lineWidth: number, colour: Colour): string {
  return `${stroke(colour)} ${short(lineWidth)} w ${path(points)} S`;
}

export function drawLoop(points: readonly Point[], lineWidth: number, colour: Colour): string {
  return `${stroke(colour)} ${short(lineWidth)} w ${path(points)} s`;
}

export function drawShape(points: readonly Point[], colour: Colour): string {
  return `${fill(colour)} ${path(points)} f`;
}

export interface PdfDocument {
  title: string;
  subject: string;
  author: string;
  content: string;
  /** At least this many bytes; the rest is filled up with a comment. */
  minimumBytes: number;
}

/** One page. The bytes depend on the arguments alone: no date, no compression, no random id. */
export function assemblePdf(document: PdfDocument): Buffer {
  const plain = layOut(document, 0);
  const missing = document.minimumBytes - plain.length;
  if (missing <= 0) return plain;
  const padded = layOut(document, missing);
  return layOut(document, missing - (padded.length - document.minimumBytes));
}

function layOut(document: PdfDocument, paddingBytes: number): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${A4.width} ${A4.height}] /Resources << /Font << ${fontNames()} >> >> /Contents 4 0 R >>`,
    `<< /Length ${document.content.length} >>\nstream\n${document.content}\nendstream`,
    `<< /Title ${unicodeString(document.title)} /Subject ${unicodeString(document.subject)} /Author ${unicodeString(document.author)} >>`,
    ...FONTS.map(font => `<< /Type /Font /Subtype /Type1 /BaseFont /${font} /Encoding /WinAnsiEncoding >>`),
  ];
  let body = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets: number[] = [];
  objects.forEach((object, index) => {
    offsets.push(body.length);
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
  });
  body += padding(paddingBytes);
  return Buffer.from(`${body}${crossReferences(offsets, body.length, digest(document))}`, 'latin1');
}

function crossReferences(offsets: number[], start: number, id: string): string {
  const size = offsets.length + 1;
  const entries = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `<< /Size ${size} /Root 1 0 R /Info 5 0 R /ID [<${id}> <${id}>] >>`;
  return `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n${trailer}\nstartxref\n${start}\n%%EOF\n`;
}

function padding(bytes: number): string {
  const line = `%${' '.repeat(78)}\n`;
  const rest = bytes % line.length;
  const last = rest === 0 ? '' : `${'%'.repeat(rest - 1)}\n`;
  return line.repeat(Math.floor(bytes / line.length)) + last;
}

function digest(document: PdfDocument): string {
  const text = [document.title, document.subject, document.author, document.content].join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function fontNames(): string {
  return FONTS.map((_, index) => `/F${index} ${index + 6} 0 R`).join(' ');
}

function path(points: readonly Point[]): string {
  return points
    .map(([x, y], index) => `${short(x)} ${short(A4.height - y)} ${index === 0 ? 'm' : 'l'}`)
    .join(' ');
}

function fill(colour: Colour): string {
  return `${colour.map(short).join(' ')} rg`;
}

function stroke(colour: Colour): string {
  return `${colour.map(short).join(' ')} RG`;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
