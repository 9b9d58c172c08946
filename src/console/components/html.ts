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

/** Builds HTML from a tagged template and escapes every inserted value. Attribute values must be quoted. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  let text = template[0] ?? '';
  values.forEach((value, index) => {
    text += toMarkup(value) + (template[index + 1] ?? '');
  });
  return new Html(text);
}

/** Converts an inserted value to escaped HTML. Null, undefined and false become an empty string. */
function toMarkup(content: HtmlContent): string {
  if (content === null || content === undefined || content === false) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(toMarkup).join('');
  return String(content).replace(SPECIAL, character => ENTITIES[character] ?? ' ');
}
