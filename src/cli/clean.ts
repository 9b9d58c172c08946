import { hideValues, secretValues } from '../config/shown.js';
import { createMask } from '../registry/http/mask.js';

/** Control characters, and those that turn the direction of text or end a line: a name must not redraw the terminal. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text for people, in one line. */
export function cleanText(text: string): string {
  return text.replace(UNSEEN, ' ');
}

const LONGEST_NAME = 60;
const LONGEST_LINE = 2000;

/** A name of somebody else's inside a sentence of ours. */
export function shortName(name: string): string {
  const clean = cleanText(name);
  return clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME - 1)}…` : clean;
}

/** One line for people, whatever stands in it. */
export function cleanLine(line: string): string {
  const clean = cleanText(line);
  return clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE - 1)}…` : clean;
}

/** JSON in which nothing stands that a terminal obeys, and that means the same; its own line ends stay. */
export function escapeJson(json: string): string {
  return json.replace(UNSEEN, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** For a sentence about a fault: without secrets, and without what may be one that stands in the wrong setting. */
export function hideSecrets(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const hide = hideValues(env);
  const mask = createMask(secretValues(env));
  return text => mask.text(hide(text));
}
