import type { Value } from '../../store/contract/tables.js';
import { formatCount } from '../../text/numbers.js';
import { type HtmlContent } from './html.js';

/** Returns a database value in a form that pages can show. Binary data becomes a size, such as "12 bytes". */
export function toDisplayValue(value: Value | undefined): HtmlContent {
  return value instanceof Uint8Array ? formatCount(value.length, 'byte') : value;
}
