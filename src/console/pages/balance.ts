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
  formatOmittedCount,
  formatCount,
  MAX_SHOWN,
  formatKnownOrganizations,
  formatWithCommas,
} from '../../text/numbers.js';
import { formatTonnes, formatCreditType } from '../../text/tonnes.js';
import { renderButton } from '../actions/button.js';
import type { Comparison } from '../comparison.js';
import { findChosenOrganization } from '../name-fault.js';
import type { PageRequest, ConsolePage } from '../page.js';
import { html, type Html, type HtmlContent } from '../components/html.js';
import { renderChoice, renderFilterBar } from '../components/filters.js';
import { renderTable } from '../components/table.js';
import { renderAge, renderBadge, renderTonnes, describeRowsWithoutAmount } from '../components/formats.js';

/** Compares the listed amounts with the expected ones. It scans every row, so the result follows later. */
export const BALANCE: ConsolePage = {
  path: '/balance',
  parameters: ['organization_id'],
  render: async request => {
    const chosen = await findChosenOrganization(request.reader, request.query);
    if (chosen !== null && typeof chosen !== 'string') return chosen;
    const organizations = await readChoices(request.reader, 'organizations', null);
    return {
      title: 'Reconciliation',
      refreshes: request.comparison?.told().running != null,
      body: html`<h1>Reconciliation</h1>
${renderFilterBar('/balance', [['organization', renderChoice('organization_id', organizations, chosen)]])}
${renderComparison(request)}`,
      renderRest: async () => renderBalance(await readBalance(request.reader, chosen), chosen),
    };
  },
};

function renderBalance(balance: Balance, chosen: PageRequest['at']): Html {
  const { balanced, rowsWithoutAmount, notBalanced } = balance;
  return html`<section id="verdict" data-live><p class="notice ${balanced === false ? 'bad' : ''}">${renderVerdict(balance)} ${chosen === null ? coverageOf(balance) : 'Projects and serializations are checked across all organizations only.'}${describeRowsWithoutAmount(rowsWithoutAmount)}</p></section>
<section id="wrong" data-live>${notBalanced.length > 0 && renderTable('Unbalanced sums', [WHAT, WHOSE, { name: 'Reason', cell: ({ why }) => why }], notBalanced)}</section>
<section id="sums" data-live>${renderTable('Checked sums', COLUMNS, listedIn(balance), { empty: 'No list with rows has been read completely yet.' })}</section>`;
}

/** Renders the button that compares with the registry, the progress and the last result. */
function renderComparison({ comparison, canAct, now }: PageRequest): Html {
  if (comparison === null)
    return html`<section class="card"><h2>Comparison with the registry</h2><p>This console has no registry credentials. Run <code>carbon-mirror verify --against-registry</code> where they are set to compare every row.</p></section>`;
  const { running: underway, finished: ended } = comparison.told();
  return html`<section id="registry" class="card" data-live><h2>Comparison with the registry</h2>
${underway === null ? renderButton(canAct, '/balance/compare', 'Compare with the registry') : html`<p role="status">${renderBadge('in progress', 'doubt')} Started ${renderAge(underway.since, now)}: ${formatCount(underway.lists, 'list')} read${underway.reading !== null && html`, reading ${underway.reading}`}</p>`}
${ended === null ? html`<p class="quiet">No comparison since this console started. A comparison reads every row from the registry again.</p>` : html`<p>${describeOutcome(ended.outcome)} <span class="quiet">Compared ${renderAge(ended.at, now)}.</span></p>${renderComparisonDetails(ended.outcome)}`}</section>`;
}

type ComparisonOutcome = NonNullable<ReturnType<Comparison['told']>['finished']>['outcome'];

function describeOutcome(found: ComparisonOutcome): Html {
  if ('fault' in found) return html`${renderBadge('The comparison failed:', 'bad')} ${found.fault}`;
  const { faults, rows, organizations, known, uncompared: left } = found;
  const whose = `${formatWithCommas(rows)} rows of ${formatWithCommas(organizations)} of ${formatKnownOrganizations(known)}`;
  if (faults.length > 0)
    return renderBadge(`${formatCount(faults.length, 'difference')} in ${whose}.`, 'bad');
  if (rows === 0)
    return renderBadge('Nothing was compared: no row could be read from the registry.', 'doubt');
  return html`${renderBadge(`${whose} match the registry.`, 'good')}${left.length > 0 && ` ${formatCount(left.length, 'list')} could not be compared.`}`;
}

function renderComparisonDetails(found: ComparisonOutcome): Html | false {
  if ('fault' in found) return false;
  const columns = (['check', 'where', 'fault'] as const).map(name => ({
    name,
    cell: (row: (typeof found.faults)[number]) => row[name],
  }));
  const shown = found.faults.slice(0, MAX_SHOWN);
  const left = found.uncompared.slice(0, MAX_SHOWN).map(each => {
    const whose = each.organization_name ?? each.organization_id ?? 'An organization without a name';
    const list = each.resource === '*' ? 'everything' : each.resource.replaceAll('_', ' ');
    return html`<li>${whose}, ${list}: ${wordsOf({ ...FRESH, ...each })}</li>`;
  });
  return html`${shown.length > 0 && renderTable('Differences', columns, shown, { footer: formatOmittedCount(found.faults.length) })}
${left.length > 0 && html`<h3>Lists that could not be compared</h3><ul class="gaps">${left} ${formatOmittedCount(found.uncompared.length)}</ul>`}`;
}

function renderVerdict(balance: Balance): Html {
  if (balance.balanced === null) return renderBadge('Nothing to reconcile yet.');
  return renderBadge(verdictOn(balance), balance.balanced ? 'good' : 'bad');
}

const WHAT = {
  name: 'Sum',
  cell: ({ what, identity, type }: Line) =>
    html`<span class="quiet">${identity}</span> ${what}${type !== null && `, ${formatCreditType(type)}`}`,
};
const WHOSE = {
  name: 'Organization',
  cell: ({ organization_name: name, organization_id: id }: Line) => name ?? id ?? 'all',
};

function amountColumn(
  name: string,
  of: (line: Line) => Line['found_micro'],
  isLimit = (_line: Line) => false,
) {
  const cell = (line: Line): HtmlContent => {
    const micro = of(line);
    return micro === null ? '–' : html`${isLimit(line) && '≤ '}${renderTonnes(formatTonnes(BigInt(micro)))}`;
  };
  return { name: `${name}, t`, cell, numeric: true };
}

function renderBalanced(balanced: boolean | null): Html {
  return balanced === null
    ? renderBadge('not known yet')
    : balanced
      ? renderBadge('yes', 'good')
      : renderBadge('no', 'bad');
}

const COLUMNS = [
  WHAT,
  WHOSE,
  { name: 'Balanced', cell: ({ balanced }: Line) => renderBalanced(balanced) },
  amountColumn('Opening', line => line.opening_micro),
  amountColumn('Increases', line => line.risen_micro),
  amountColumn('Decreases', line => line.fallen_micro),
  amountColumn('Found', line => line.found_micro),
  amountColumn('Expected', line => line.expected_micro, isUpperBound),
  amountColumn('Difference', line => line.difference_micro),
];
