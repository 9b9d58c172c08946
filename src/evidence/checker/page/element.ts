import { makePrintable } from '../text.js';

type Child = Node | string;

/** Creates an HTML element. Replaces invisible characters in its text children, because they may be untrusted input. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.map(child => (typeof child === 'string' ? makePrintable(child) : child)));
  return element;
}

/** Returns the element with this id. Throws if there is none of this class. */
export function getElement<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`expected the element ${id}`);
}

/** Creates a scrollable table whose cells are texts. Columns from the index `firstNumber` on are aligned as numbers. */
export function createTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  firstNumber = columns.length,
): HTMLElement {
  const getClass = (index: number) => (index >= firstNumber ? 'number' : '');
  const head = columns.map((column, index) =>
    createElement('th', { scope: 'col', className: getClass(index) }, [column]),
  );
  const body = rows.map(cells =>
    createElement(
      'tr',
      {},
      cells.map((cell, index) => createElement('td', { className: getClass(index) }, [cell])),
    ),
  );
  return wrapTable(
    createElement('table', {}, [
      createElement('caption', {}, [caption]),
      createElement('thead', {}, [createElement('tr', {}, head)]),
      createElement('tbody', {}, body),
    ]),
    caption,
  );
}

/** Wraps a table in an element that scrolls sideways, also with the keyboard. `label` names it for screen readers. */
export function wrapTable(table: HTMLElement, label: string): HTMLElement {
  const wrapper = createElement('div', { className: 'scroll', tabIndex: 0 }, [table]);
  wrapper.setAttribute('role', 'region');
  wrapper.setAttribute('aria-label', makePrintable(label));
  return wrapper;
}
