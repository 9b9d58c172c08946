import { expect, test } from 'vitest';
import { html } from '../../src/console/components/html.js';
import { renderBadge } from '../../src/console/components/badges.js';

const HOSTILE = `"><script>alert('1')</script>&amp;`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;';

test('T83 values inserted into markup are escaped everywhere', () => {
  expect(html`<a title="${HOSTILE}">${HOSTILE}</a>`.text).toBe(`<a title="${ESCAPED}">${ESCAPED}</a>`);
  expect(html`<i>${[HOSTILE, [HOSTILE]]}</i>`.text).toBe(`<i>${ESCAPED}${ESCAPED}</i>`);
});

test('a bad state is red, and a state without a meaning here has no colour', () => {
  expect(renderBadge('unknown').text).toBe('<span class="state bad">unknown</span>');
  expect(renderBadge('constructor').text).toBe('<span class="state none">constructor</span>');
  expect(renderBadge('removals_unconfirmed').text).toBe(
    '<span class="state doubt">removals unconfirmed</span>',
  );
});

test('nested markup is not escaped again, and null renders as nothing', () => {
  expect(html`<ul>${['a', 'b<'].map(each => html`<li>${each}</li>`)}</ul>`.text).toBe(
    '<ul><li>a</li><li>b&lt;</li></ul>',
  );
  expect(html`${null}${undefined}${false}${0}${10n}${''}`.text).toBe('010');
});

test('T72 invisible and control characters become blanks in text and attributes', () => {
  const evil = 'a\u001b[2J\u202eb\u2028c\u009bd\u0000e';
  expect(html`<a title="${evil}">${evil}</a>`.text).toBe('<a title="a [2J b c d e">a [2J b c d e</a>');
  expect(html`<pre>${'{\r\n\t"a": 1\n}'}</pre>`.text).toBe('<pre>{\r\n\t&quot;a&quot;: 1\n}</pre>');
});
