/** Control characters, and those that turn the direction of text or end a line: a name must not redraw the terminal. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text for people, in one line. */
export function cleanText(text: string): string {
  return text.replace(UNSEEN, ' ');
}

/** JSON in which nothing stands that a terminal obeys, and that means the same; its own line ends stay. */
export function escapeJson(json: string): string {
  return json.replace(UNSEEN, character =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
