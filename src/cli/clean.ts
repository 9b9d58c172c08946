import { cleanText, UNSEEN } from '../text/clean.js';

const LONGEST_LINE = 2000;

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
