import { UNPRINTABLE } from '../../text/clean-text.js';

/** Markup that is safe to send: made by `html` alone. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = string | number | bigint | Html | null | undefined | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** What would be markup, and what nobody sees but moves or turns what is seen; lines and columns of a text stay. */
const SPECIAL = new RegExp(`[&<>"']|(?![\\t\\n\\r])${UNPRINTABLE.source}`, 'g');

/** What stands in the template is markup; what is put into it is text, in attributes too as long as they are quoted. */
export function html(markup: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = markup[0] ?? '';
  parts.forEach((part, index) => {
    text += textOf(part) + (markup[index + 1] ?? '');
  });
  return new Html(text);
}

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(SPECIAL, sign => ENTITIES[sign] ?? ' ');
}
