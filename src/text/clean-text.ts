/** Control characters, bidirectional overrides and line separators, with which a name could redraw the terminal. */
// eslint-disable-next-line no-control-regex
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** `UNPRINTABLE` without its `g` flag: testing first is faster than replacing nothing. */
const ANY_UNPRINTABLE = new RegExp(UNPRINTABLE.source);

/** Replaces control characters and line breaks by spaces. */
export function cleanText(text: string): string {
  return ANY_UNPRINTABLE.test(text) ? text.replace(UNPRINTABLE, ' ') : text;
}

const MAX_NAME_LENGTH = 60;

/** Replaces control characters in a name and truncates the name to 60 characters. */
export function truncateName(name: string): string {
  const clean = cleanText(name);
  return clean.length > MAX_NAME_LENGTH ? `${clean.slice(0, MAX_NAME_LENGTH - 1)}…` : clean;
}
