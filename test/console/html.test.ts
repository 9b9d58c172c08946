import { expect, test } from 'vitest';
import { html } from '../../src/console/components/html.js';
import { renderBadge } from '../../src/console/components/formats.js';

const HOSTILE = `"><script>alert('1')</script>&amp;`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;';

test('T83 what is put into markup is text, wherever it stands', () => {
  expect(html`<a title="${HOSTILE}">${HOSTILE}</a>`.text).toBe(`<a title="${ESCAPED}">${ESCAPED}</a>`);
  expect(html`<i>${[HOSTILE, [HOSTILE]]}</i>`.text).toBe(`<i>${ESCAPED}${ESCAPED}</i>`);
});

test('a state of any name is told, and has a colour where it has a meaning', () => {
  expect(renderBadge('constructor').text).toBe('<span class="state none">constructor</span>');
  expect(renderBadge('removals_unconfirmed').text).toBe(
    '<span class="state doubt">removals unconfirmed</span>',
  );
});

test('markup inside markup stays what it is, and nothing shows as nothing', () => {
  expect(html`<ul>${['a', 'b<'].map(each => html`<li>${each}</li>`)}</ul>`.text).toBe(
    '<ul><li>a</li><li>b&lt;</li></ul>',
  );
  expect(html`${null}${undefined}${false}${0}${10n}${''}`.text).toBe('010');
});

test('T72 what nobody sees but draws, turns or ends a line is a blank, in text and in attributes', () => {
  const evil = 'a\u001b[2J\u202eb\u2028c\u009bd\u0000e';
  expect(html`<a title="${evil}">${evil}</a>`.text).toBe('<a title="a [2J b c d e">a [2J b c d e</a>');
  expect(html`<pre>${'{\r\n\t"a": 1\n}'}</pre>`.text).toBe('<pre>{\r\n\t&quot;a&quot;: 1\n}</pre>');
});
