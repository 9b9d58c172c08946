import { html, type Html } from './html.js';

export interface Bar {
  readonly name: string;
  /** What the length says, in words. */
  readonly says: string;
  readonly value: number;
}

const WIDTH = 640;
const NAMES = 240;
const SAYS = 130;
const LINE = 26;
const LONGEST_NAME = 32;
/** What tells vintages apart. */
const LAST_WORD = 5;

/** Lengths beside their names and their numbers. The table that belongs to it says the same. */
export function bars(sentence: string, all: readonly Bar[], table: Html): Html {
  const most = Math.max(...all.map(({ value }) => value), Number.MIN_VALUE);
  const height = all.length * LINE;
  return html`<figure><figcaption>${sentence}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${sentence}">${all.map(
    (bar, index) => line(bar, index * LINE, most),
  )}</svg>
${table}</figure>`;
}

function line({ name, says, value }: Bar, top: number, most: number): Html {
  const length = Math.max(1, Math.round(((WIDTH - NAMES - SAYS) * value) / most));
  const middle = top + LINE / 2;
  return html`<g><title>${name}: ${says}</title>
<text x="${NAMES - 8}" y="${middle}" class="name">${shortened(name)}</text>
<rect x="${NAMES}" y="${top + 4}" width="${length}" height="${LINE - 8}"/>
<text x="${NAMES + length + 8}" y="${middle}">${says}</text></g>`;
}

function shortened(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME - LAST_WORD - 1)}…${name.slice(-LAST_WORD)}`;
}
