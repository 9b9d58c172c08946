import { type Line, readBalance } from '../../query/history/balance.js';
import { readChoices } from '../../query/lists/choices.js';
import { ofKnown } from '../../text/known.js';
import { tonnesOf } from '../../text/tonnes.js';
import { withThousands } from '../../text/thousands.js';
import type { Ask, Page } from '../page.js';
import { html, type Html, type Part } from '../components/html.js';
import { choose, filterBar } from '../components/filters.js';
import { table } from '../components/table.js';
import { badge, tonnes, withoutAmount } from '../components/words.js';

/** Whether what is listed is what it has to be, to the millionth. Every row is looked at: it follows. */
export const BALANCE: Page = {
  path: '/balance',
  show: async ask => {
    const chosen = ask.query.get('organization_id') || null;
    const organizations = await readChoices(ask.reader, 'organizations', null);
    return {
      title: 'Does it add up?',
      body: html`<h1>Does it add up?</h1>
${filterBar('/balance', [['organization', choose('organization_id', organizations, chosen)]])}`,
      later: async () => show(await readBalance(ask.reader, chosen), chosen),
    };
  },
};

function show(balance: Awaited<ReturnType<typeof readBalance>>, chosen: Ask['at']): Html {
  const { balanced, known, rowsWithoutAmount, notBalanced } = balance;
  const sums = balance.sums.filter(line => line.rows > 0 || line.balanced !== true);
  return html`<section id="verdict" data-live><p class="notice ${balanced === false ? 'bad' : ''}">${verdict(balance)} ${chosen === null ? `This is of ${ofKnown(known)}.` : 'Projects and serializations are compared over all organizations only.'}${withoutAmount(rowsWithoutAmount)}</p></section>
<section id="wrong" data-live>${notBalanced.length > 0 && table('What is not balanced', [WHAT, WHOSE, { name: 'Why', cell: ({ why }) => why }], notBalanced)}</section>
<section id="sums" data-live>${table('What was added up', COLUMNS, sums, { empty: 'No list that has rows has been read completely.' })}</section>`;
}

function verdict({ balanced, sums }: Awaited<ReturnType<typeof readBalance>>): Html {
  if (balanced === null) return badge('Nothing can be added up yet.');
  if (balanced) return badge(`It adds up: all ${withThousands(sums.length)} sums are balanced.`, 'good');
  const wrong = sums.filter(line => line.balanced === false).length;
  return badge(`${withThousands(wrong)} of ${withThousands(sums.length)} sums are not balanced.`, 'bad');
}

const WHAT = {
  name: 'What',
  cell: ({ what, identity }: Line) => html`${what} <span class="quiet">${identity}</span>`,
};
const WHOSE = {
  name: 'Organization',
  cell: ({ organization_name: name, organization_id: id }: Line) => name ?? id ?? 'all',
};

function amount(name: string, of: (line: Line) => Line['found_micro']) {
  const cell = (line: Line): Part => {
    const micro = of(line);
    return micro === null ? '–' : tonnes(tonnesOf(BigInt(micro)));
  };
  return { name: `${name}, t`, cell, numeric: true };
}

const COLUMNS = [
  WHAT,
  WHOSE,
  { name: 'Balanced', cell: ({ balanced }: Line) => STANDS[String(balanced)] },
  amount('Opening', line => line.opening_micro),
  amount('Rose', line => line.risen_micro),
  amount('Fell', line => line.fallen_micro),
  amount('Found', line => line.found_micro),
  amount('Expected', line => line.expected_micro),
  amount('Difference', line => line.difference_micro),
];

const STANDS: Readonly<Record<string, Html>> = {
  true: badge('yes', 'good'),
  false: badge('no', 'bad'),
  null: badge('not known yet'),
};
