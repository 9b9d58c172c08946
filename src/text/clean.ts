/** Control characters, and those that turn the direction of text or end a line: a name must not redraw the terminal. */
// eslint-disable-next-line no-control-regex
export const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** To look for one costs less than to replace none. */
const ONE_UNSEEN = new RegExp(UNSEEN.source);

/** Text for people, in one line. */
export function cleanText(text: string): string {
  return ONE_UNSEEN.test(text) ? text.replace(UNSEEN, ' ') : text;
}

const LONGEST_NAME = 60;

/** A name of somebody else's inside a sentence of ours. */
export function shortName(name: string): string {
  const clean = cleanText(name);
  return clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME - 1)}…` : clean;
}
