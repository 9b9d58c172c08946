/** Control characters, and those that turn the direction of text or end a line: a name must not redraw the terminal. */
// eslint-disable-next-line no-control-regex
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** To look for one costs less than to replace none. */
const ONE_UNPRINTABLE = new RegExp(UNPRINTABLE.source);

/** Text for people, in one line. */
export function cleanText(text: string): string {
  return ONE_UNPRINTABLE.test(text) ? text.replace(UNPRINTABLE, ' ') : text;
}

const MAX_NAME_LENGTH = 60;

/** A name of somebody else's inside a sentence of ours. */
export function truncateName(name: string): string {
  const clean = cleanText(name);
  return clean.length > MAX_NAME_LENGTH ? `${clean.slice(0, MAX_NAME_LENGTH - 1)}…` : clean;
}
