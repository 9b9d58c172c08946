import { type Face, measureText, wrapText } from './fonts.js';
import { cleanText } from './winansi.js';
import {
  A4,
  type Colour,
  assemblePdf,
  drawCentred,
  drawFrame,
  drawLine,
  drawLoop,
  drawPage,
  drawShape,
  drawText,
  type Point,
} from './pdf.js';

export interface CertificateFacts {
  registryName: string;
  projectName: string;
  projectNumber: string;
  projectCountry: string;
  serialization: string;
  vintage: string;
  /** Tonnes. */
  amount: number;
  beneficiary: string;
  reason: string;
  comment: string;
  /** ISO 8601, UTC. */
  retiredAt: string;
  retirementId: string;
  organizationName: string;
}

export interface CertificateOptions {
  /** For benchmarks: pads the file to this many bytes. */
  minimumBytes?: number;
}

const PAPER: Colour = [0.99, 0.98, 0.96];
const GREEN: Colour = [0.05, 0.28, 0.22];
const GOLD: Colour = [0.69, 0.55, 0.25];
const PALE: Colour = [0.85, 0.89, 0.84];
const INK: Colour = [0.12, 0.15, 0.14];
const GREY: Colour = [0.42, 0.45, 0.43];

const CENTRE = A4.width / 2;
const LEFT = 84;
const VALUES_LEFT = 200;
const RIGHT = A4.width - 84;
const TEXT_WIDTH = A4.width - 150;

const FACT: Face = { font: 'Times-Roman', size: 11.5 };
const FACT_LINE = 12.6;

const FINE_PRINT = [
  'Sandbox document. Drawn by a test registry for the development of software. It stands for no real',
  'emission reduction, cannot be traded or claimed, and has no value outside the sandbox it comes from.',
];

/** The same on every certificate. */
const BACKGROUND = drawBackground();
const FOOT = drawFoot();

/** The retirement's certificate: one A4 page, the same bytes for the same facts. */
export function drawCertificate(facts: CertificateFacts, options: CertificateOptions = {}): Buffer {
  const content = [BACKGROUND, drawHeading(facts), drawAmount(facts.amount), drawFacts(facts), FOOT];
  return assemblePdf({
    title: `Certificate of retirement ${facts.retirementId}`,
    subject: `${facts.serialization}, ${formatAmount(facts.amount)} tonnes, for ${facts.beneficiary}`,
    author: facts.registryName,
    content: content.join('\n'),
    minimumBytes: options.minimumBytes ?? 0,
  });
}

function drawBackground(): string {
  const corners = [34, A4.width - 34].flatMap(x => [34, A4.height - 34].map((y): Point => [x, y]));
  return [
    drawPage(PAPER),
    drawFrame(22, 2.6, GREEN),
    drawFrame(28, 0.7, GOLD),
    drawFrame(40, 0.5, GREEN),
    ...corners.map(corner => drawShape(diamond(corner, 5), GOLD)),
    ...rosette([CENTRE, 372], 104, 12).map(loop => drawLoop(loop, 0.35, PALE)),
  ].join('\n');
}

function drawHeading(facts: CertificateFacts): string {
  const registry: Face = { font: 'Helvetica-Bold', size: 10, spacing: 2.4 };
  const [registryLine = ''] = wrapped(facts.registryName.toUpperCase(), registry, TEXT_WIDTH, 1);
  const title: Face = { font: 'Times-Bold', size: 37 };
  const statement: Face = { font: 'Times-Italic', size: 14 };
  return [
    drawCentred(registryLine, registry, [CENTRE, 88], GREEN),
    drawCentred('Certificate of Retirement', title, [CENTRE, 140], GREEN),
    drawRule(160, 110),
    drawCentred('This certifies that the carbon credits named below', statement, [CENTRE, 194], INK),
    drawCentred('were permanently retired for the benefit of', statement, [CENTRE, 212], INK),
    drawBeneficiary(facts.beneficiary.trim() === '' ? facts.organizationName : facts.beneficiary),
  ].join('\n');
}

function drawBeneficiary(beneficiary: string): string {
  const sizes = [28, 22, 17];
  const fitted = sizes.map((size, index) => {
    const face: Face = { font: 'Times-Bold', size };
    return { face, maxLines: index + 1, lines: wrapped(beneficiary, face, TEXT_WIDTH, index + 2) };
  });
  const chosen = fitted.find(fit => fit.lines.length <= fit.maxLines) ?? fitted.at(-1);
  if (chosen === undefined) return '';
  const lines = wrapped(beneficiary, chosen.face, TEXT_WIDTH, chosen.maxLines);
  const lineHeight = chosen.face.size * 1.12;
  const first = 254 - ((lines.length - 1) * lineHeight) / 2 + 0.1 * chosen.face.size;
  return lines
    .map((line, index) => drawCentred(line, chosen.face, [CENTRE, first + index * lineHeight], INK))
    .join('\n');
}

function drawAmount(amount: number): string {
  const text = formatAmount(amount);
  const natural = measureText(text, { font: 'Times-Bold', size: 66 });
  const size = Math.min(66, (66 * TEXT_WIDTH) / natural);
  return [
    drawCentred(text, { font: 'Times-Bold', size }, [CENTRE, 384], GREEN),
    drawCentred(
      'TONNES OF CARBON DIOXIDE EQUIVALENT',
      { font: 'Helvetica', size: 9, spacing: 1.6 },
      [CENTRE, 408],
      INK,
    ),
  ].join('\n');
}

function drawFacts(facts: CertificateFacts): string {
  const rows: readonly (readonly [label: string, value: string, maxLines: number])[] = [
    ['Project', facts.projectName, 2],
    ['Project number', `${facts.projectNumber}, ${facts.projectCountry}`, 1],
    ['Serialization', facts.serialization, 2],
    ['Vintage', facts.vintage, 1],
    ['Reason', facts.reason, 2],
    ['Comment', facts.comment, 3],
    ['Retired by', facts.organizationName, 2],
    ['Date', formatDate(facts.retiredAt), 1],
    ['Retirement id', facts.retirementId, 1],
  ];
  const drawn: string[] = [];
  let y = 502;
  for (const [label, value, maxLines] of rows) {
    const lines = wrapped(value, FACT, RIGHT - VALUES_LEFT, maxLines);
    if (lines.length === 0) continue;
    drawn.push(drawFact(label, lines, y));
    y += lines.length * FACT_LINE + 7;
  }
  return drawn.join('\n');
}

function drawFact(label: string, lines: string[], y: number): string {
  const below = y + lines.length * FACT_LINE - 8;
  const rule: Point[] = [
    [LEFT, below],
    [RIGHT, below],
  ];
  return [
    drawText(label.toUpperCase(), { font: 'Helvetica', size: 7.2, spacing: 0.9 }, [LEFT, y - 0.6], GREY),
    ...lines.map((line, index) => drawText(line, FACT, [VALUES_LEFT, y + index * FACT_LINE], INK)),
    drawLine(rule, 0.3, PALE),
  ].join('\n');
}

function drawFoot(): string {
  const print: Face = { font: 'Helvetica', size: 6.8 };
  return [
    drawRule(762, 60),
    ...FINE_PRINT.map((line, index) => drawCentred(line, print, [CENTRE, 778 + index * 9], GREY)),
  ].join('\n');
}

function drawRule(y: number, halfWidth: number): string {
  const [left, right]: Point[][] = [
    [
      [CENTRE - halfWidth, y],
      [CENTRE - 8, y],
    ],
    [
      [CENTRE + 8, y],
      [CENTRE + halfWidth, y],
    ],
  ];
  return [
    drawLine(left ?? [], 0.8, GOLD),
    drawLine(right ?? [], 0.8, GOLD),
    drawShape(diamond([CENTRE, y], 3.5), GOLD),
  ].join('\n');
}

function diamond([x, y]: Point, radius: number): Point[] {
  return [
    [x, y - radius],
    [x + radius, y],
    [x, y + radius],
    [x - radius, y],
  ];
}

/** Interlaced waves around a circle, as on banknotes. */
function rosette([x, y]: Point, radius: number, petals: number): Point[][] {
  const steps = 144;
  return [0, 1, 2, 3, 4, 5].map(turn =>
    Array.from({ length: steps }, (_, step): Point => {
      const angle = (2 * Math.PI * step) / steps;
      const wave = 1 + 0.26 * Math.cos(petals * angle + (turn * Math.PI) / 3);
      const distance = (radius / 1.26) * wave;
      return [x + distance * Math.cos(angle), y + distance * Math.sin(angle)];
    }),
  );
}

/** Thousands are set apart; the digits are all kept. */
function formatAmount(amount: number): string {
  const [whole = '', fraction] = String(amount).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

function formatDate(iso: string): string {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)/.exec(iso) ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? iso : `${Number(day)} ${name} ${year}`;
}

/** In lines, of what can be shown of a text. */
function wrapped(text: string, face: Face, width: number, maxLines: number): string[] {
  return wrapText(cleanText(text), face, width, maxLines);
}
