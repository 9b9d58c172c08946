/** The bytes 0x80 to 0x9f of WinAnsi; the rest of it is Latin-1. A space stands for an unused byte. */
const UPPER_CONTROLS =
  '\u20ac \u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152 \u017d  \u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153 \u017e\u0178';

const BYTES: ReadonlyMap<string, number> = new Map([
  ...bytesFrom(0x20, 0x7e),
  ...bytesFrom(0xa1, 0xac),
  ...bytesFrom(0xae, 0xff),
  ...Array.from(UPPER_CONTROLS, (char, index): [string, number] => [char, 0x80 + index]).filter(
    ([char]) => char !== ' ',
  ),
]);

/** Letters and signs that Unicode does not decompose, each followed by what is shown instead. */
const LIKENESSES: ReadonlyMap<string, string> = new Map(
  '\u0141L \u0142l \u0110D \u0111d \u0126H \u0127h \u0131i \u0166T \u0167t \u2010- \u2011- \u2012\u2013 \u2015\u2014 \u2212- \u2044/ \u2032\' \u2033"'
    .split(' ')
    .map(pair => [pair.slice(0, 1), pair.slice(1)]),
);

/** A longer text could not be shown on a page anyway. */
const MAX_CHARACTERS = 4_000;

/** One line of text that WinAnsi can hold: marks are dropped where need be, anything unknown becomes a question mark. */
export function cleanText(text: string): string {
  const chars = Array.from(text.slice(0, MAX_CHARACTERS).normalize('NFC'), cleanCharacter);
  return chars.join('').replace(/ +/g, ' ').trim();
}

/** A PDF literal string in plain ASCII. */
export function literalString(text: string): string {
  return `(${Array.from(cleanText(text), escapeCharacter).join('')})`;
}

/** A PDF text string that keeps every character, for the document's properties. */
export function unicodeString(text: string): string {
  const wellFormed = text.slice(0, MAX_CHARACTERS).replace(/\p{Surrogate}/gu, '\ufffd');
  return `<FEFF${Buffer.from(wellFormed, 'utf16le').swap16().toString('hex').toUpperCase()}>`;
}

function cleanCharacter(char: string): string {
  if (BYTES.has(char)) return char;
  if (/[\s\p{Cc}]/u.test(char)) return ' ';
  if (/[\p{Cf}\p{M}\p{Emoji_Modifier}]/u.test(char)) return '';
  const likeness = LIKENESSES.get(char) ?? char.normalize('NFKD').replace(/\p{M}/gu, '');
  return Array.from(likeness).every(part => BYTES.has(part)) ? likeness : '?';
}

function escapeCharacter(char: string): string {
  if (/[()\\]/.test(char)) return `\\${char}`;
  const byte = BYTES.get(char) ?? 0x3f;
  return byte < 0x80 ? char : `\\${byte.toString(8)}`;
}

function bytesFrom(first: number, last: number): [string, number][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [
    String.fromCharCode(first + index),
    first + index,
  ]);
}
