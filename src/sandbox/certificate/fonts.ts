/** Widths of the printable ASCII characters, space to tilde, in thousandths of the font size. */
const WIDTHS = {
  'Times-Roman':
    widths(`250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500
    500 500 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722
    556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500
    500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541`),
  'Times-Bold':
    widths(`250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 500 500 500 500 500 500 500 500
    500 500 333 333 570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778
    611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500 333 500 556 444 556 444 333 500
    556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394 220 394 520`),
  'Times-Italic':
    widths(`250 333 420 500 500 833 778 214 333 333 500 675 250 333 250 278 500 500 500 500 500 500 500 500
    500 500 333 333 675 675 675 500 920 611 611 667 722 611 611 722 722 333 444 667 556 833 667 722
    611 722 611 500 556 722 611 833 611 556 556 389 278 389 422 500 333 500 500 444 500 444 278 500
    500 278 278 444 278 722 500 500 500 500 389 389 278 500 444 667 444 444 389 400 275 400 541`),
  Helvetica:
    widths(`278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556
    556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778
    667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556
    556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584`),
  'Helvetica-Bold':
    widths(`278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556
    556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778
    667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611
    611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584`),
} as const;

export type Font = keyof typeof WIDTHS;

export const FONTS: readonly Font[] = [
  'Times-Roman',
  'Times-Bold',
  'Times-Italic',
  'Helvetica',
  'Helvetica-Bold',
];

const FIRST_PRINTABLE = 0x20;
const WIDE = new Set('\u00c6\u0152\u2014\u2026\u2122\u2030');

export interface Face {
  font: Font;
  size: number;
  /** Extra space after every character, in points. */
  spacing?: number;
}

export function measureText(text: string, face: Face): number {
  let thousandths = 0;
  for (const char of text) thousandths += charWidth(char, face.font);
  return (thousandths * face.size) / 1000 + text.length * (face.spacing ?? 0);
}

/** Cleans the text and breaks it into lines; what does not fit the last line ends in an ellipsis. */
export function wrapText(text: string, face: Face, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(unbroken => breakWord(unbroken, face, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (measureText(longer, face) <= width) {
      line = longer;
      continue;
    }
    lines.push(line);
    if (lines.length === maxLines) return [...lines.slice(0, -1), shorten(line, face, width)];
    line = word;
  }
  return line === '' ? lines : [...lines, line];
}

function widths(list: string): readonly number[] {
  return list.trim().split(/\s+/).map(Number);
}

/** An accented letter is as wide as its base letter in these fonts. */
function charWidth(char: string, font: Font): number {
  if (WIDE.has(char)) return 1000;
  const base = char.normalize('NFD').charCodeAt(0) - FIRST_PRINTABLE;
  return WIDTHS[font][base] ?? 556;
}

function breakWord(word: string, face: Face, width: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const char of word) {
    if (part !== '' && measureText(part + char, face) > width) {
      parts.push(part);
      part = '';
    }
    part += char;
  }
  return [...parts, part];
}

function shorten(line: string, face: Face, width: number): string {
  let text = line;
  while (text !== '' && measureText(`${text}\u2026`, face) > width) text = text.slice(0, -1);
  return `${text.trimEnd()}\u2026`;
}
