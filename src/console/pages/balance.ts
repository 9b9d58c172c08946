import {
  type Balance,
  coverageOf,
  isUpperBound,
  type Line,
  listedIn,
  readBalance,
  verdictOn,
} from '../../query/history/balance.js';
import { FRESH, wordsOf } from '../../query/freshness/words.js';
import { readChoices } from '../../query/names.js';
import {
  formatRest,
  formatCount,
  MAX_SHOWN,
  formatKnownOrganizations,
  withThousands,
} from '../../text/numbers.js';
import { formatTonnes, creditTypeName } from '../../text/tonnes.js';
import { button } from '../actions/button.js';
import type { Comparison } from '../comparison.js';
import { findChosenOrganization } from '../name-fault.js';
import type { Ask, Page } from '../page.js';
import { html, type Html, type Part } from '../components/html.js';
import { choose, filterBar } from '../components/filters.js';
import { table } from '../components/table.js';
import { ago, badge, tonnes, withoutAmount } from '../components/words.js';

/** Whether what is listed is what it has to be, to the millionth. Every row is looked at: it follows. */
export const BALANCE: Page = {
  path: '/balance',
  asks: ['organization_id'],
  show: async ask => {
    const chosen = await findChosenOrganization(ask.reader, ask.query);
    if (chosen !== null && typeof chosen !== 'string') return chosen;
    const organizations = await readChoices(ask.reader, 'organizations', null);
    return {
      title: 'Reconciliation',
      goesOn: ask.comparison?.told().underway != null,
      body: html`<h1>Reconciliation</h1>
${filterBar('/balance', [['organization', choose('organization_id', organizations, chosen)]])}
${registry(ask)}`,
      later: async () => show(await readBalance(ask.reader, chosen), chosen),
    };
  },
};

function show(balance: Balance, chosen: Ask['at']): Html {
  const { balanced, rowsWithoutAmount, notBalanced } = balance;
  return html`<section id="verdict" data-live><p class="notice ${balanced === false ? 'bad' : ''}">${verdict(balance)} ${chosen === null ? coverageOf(balance) : 'Projects and serializations are checked across all organizations only.'}${withoutAmount(rowsWithoutAmount)}</p></section>
<section id="wrong" data-live>${notBalanced.length > 0 && table('Unbalanced sums', [WHAT, WHOSE, { name: 'Reason', cell: ({ why }) => why }], notBalanced)}</section>
<section id="sums" data-live>${table('Checked sums', COLUMNS, listedIn(balance), { empty: 'No list with rows has been read completely yet.' })}</section>`;
}

/** What each row is held against is asked for at the registry, which takes its time. */
function registry({ comparison, canAct, now }: Ask): Html {
  if (comparison === null)
    return html`<section class="card"><h2>Comparison with the registry</h2><p>This console has no registry credentials. Run <code>carbon-mirror verify --against-registry</code> where they are set to compare every row.</p></section>`;
  const { underway, ended } = comparison.told();
  return html`<section id="registry" class="card" data-live><h2>Comparison with the registry</h2>
${underway === null ? button(canAct, '/balance/compare', 'Compare with the registry') : html`<p role="status">${badge('in progress', 'doubt')} Started ${ago(underway.since, now)}: ${formatCount(underway.lists, 'list')} read${underway.reading !== null && html`, reading ${underway.reading}`}</p>`}
${ended === null ? html`<p class="quiet">No comparison since this console started. A comparison reads every row from the registry again.</p>` : html`<p>${outcome(ended.outcome)} <span class="quiet">Compared ${ago(ended.at, now)}.</span></p>${differences(ended.outcome)}`}</section>`;
}

type Outcome = NonNullable<ReturnType<Comparison['told']>['ended']>['outcome'];

function outcome(found: Outcome): Html {
  if ('fault' in found) return html`${badge('The comparison failed:', 'bad')} ${found.fault}`;
  const { faults, rows, organizations, known, left } = found;
  const whose = `${withThousands(rows)} rows of ${withThousands(organizations)} of ${formatKnownOrganizations(known)}`;
  if (faults.length > 0) return badge(`${formatCount(faults.length, 'difference')} in ${whose}.`, 'bad');
  if (rows === 0) return badge('Nothing was compared: no row could be read from the registry.', 'doubt');
  return html`${badge(`${whose} match the registry.`, 'good')}${left.length > 0 && ` ${formatCount(left.length, 'list')} could not be compared.`}`;
}

function differences(found: Outcome): Html | false {
  if ('fault' in found) return false;
  const columns = (['check', 'where', 'fault'] as const).map(name => ({
    name,
    cell: (row: (typeof found.faults)[number]) => row[name],
  }));
  const shown = found.faults.slice(0, MAX_SHOWN);
  const left = found.left.slice(0, MAX_SHOWN).map(each => {
    const whose = each.organization_name ?? each.organization_id ?? 'An organization without a name';
    const list = each.resource === '*' ? 'everything' : each.resource.replaceAll('_', ' ');
    return html`<li>${whose}, ${list}: ${wordsOf({ ...FRESH, ...each })}</li>`;
  });
  return html`${shown.length > 0 && table('Differences', columns, shown, { more: formatRest(found.faults.length) })}
${left.length > 0 && html`<h3>Lists that could not be compared</h3><ul class="gaps">${left} ${formatRest(found.left.length)}</ul>`}`;
}

function verdict(balance: Balance): Html {
  if (balance.balanced === null) return badge('Nothing to reconcile yet.');
  return badge(verdictOn(balance), balance.balanced ? 'good' : 'bad');
}

const WHAT = {
  name: 'Sum',
  cell: ({ what, identity, type }: Line) =>
    html`<span class="quiet">${identity}</span> ${what}${type !== null && `, ${creditTypeName(type)}`}`,
};
const WHOSE = {
  name: 'Organization',
  cell: ({ organization_name: name, organization_id: id }: Line) => name ?? id ?? 'all',
};

function amount(name: string, of: (line: Line) => Line['found_micro'], isLimit = (_line: Line) => false) {
  const cell = (line: Line): Part => {
    const micro = of(line);
    return micro === null ? '–' : html`${isLimit(line) && '≤ '}${tonnes(formatTonnes(BigInt(micro)))}`;
  };
  return { name: `${name}, t`, cell, numeric: true };
}

function isBalanced(balanced: boolean | null): Html {
  return balanced === null ? badge('not known yet') : balanced ? badge('yes', 'good') : badge('no', 'bad');
}

const COLUMNS = [
  WHAT,
  WHOSE,
  { name: 'Balanced', cell: ({ balanced }: Line) => isBalanced(balanced) },
  amount('Opening', line => line.opening_micro),
  amount('Increases', line => line.risen_micro),
  amount('Decreases', line => line.fallen_micro),
  amount('Found', line => line.found_micro),
  amount('Expected', line => line.expected_micro, isUpperBound),
  amount('Difference', line => line.difference_micro),
];
