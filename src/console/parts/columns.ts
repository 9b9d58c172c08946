import { html, type Html } from './html.js';

export interface Column {
  readonly name: string;
  readonly value: number;
  /** Stands above it; nothing where there is nothing to say. */
  readonly mark: string;
}

const WIDTH = 640;
const HEIGHT = 120;
const ABOVE = 16;

/** Heights beside each other, from the oldest to the newest. The table that belongs to it says the same. */
export function columns(sentence: string, all: readonly Column[], table: Html): Html {
  const most = Math.max(...all.map(({ value }) => value), Number.MIN_VALUE);
  const width = WIDTH / Math.max(all.length, 1);
  return html`<figure><figcaption>${sentence}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${sentence}">
<line x1="0" x2="${WIDTH}" y1="${HEIGHT}" y2="${HEIGHT}"/>${all.map(({ name, value, mark }, index) => {
    const height = Math.max(1, Math.round(((HEIGHT - ABOVE) * value) / most));
    const left = Math.round(index * width);
    return html`<g><title>${name}</title><rect x="${left}" y="${HEIGHT - height}" width="${Math.max(1, Math.round(width) - 2)}" height="${height}"/>${mark !== '' && html`<text x="${left}" y="${HEIGHT - height - 8}">${mark}</text>`}</g>`;
  })}</svg>
<details><summary>The same as a table</summary>${table}</details></figure>`;
}
