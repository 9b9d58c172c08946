import { UNPRINTABLE } from '../../text/clean-text.js';

/** Markup that is safe to send. Only `html` creates it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlContent = string | number | bigint | Html | null | undefined | false | readonly HtmlContent[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters of markup, and invisible characters that move or reverse text. Tabs and line breaks stay. */
const SPECIAL = new RegExp(`[&<>"']|(?![\\t\\n\\r])${UNPRINTABLE.source}`, 'g');

/** Builds markup from a template. Inserted values are escaped; attributes must be quoted. */
export function html(markup: TemplateStringsArray, ...parts: readonly HtmlContent[]): Html {
  let text = markup[0] ?? '';
  parts.forEach((part, index) => {
    text += toMarkup(part) + (markup[index + 1] ?? '');
  });
  return new Html(text);
}

function toMarkup(part: HtmlContent): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(toMarkup).join('');
  return String(part).replace(SPECIAL, sign => ENTITIES[sign] ?? ' ');
}
