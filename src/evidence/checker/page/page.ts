/** The script of check.html, which a verifier opens from disk. It shows rows only after the entire folder was verified. */
import { checkEvidence, type CheckReport, type VerifiedEvidence } from '../check.js';
import {
  describeEvidence,
  describeFolder,
  describeTimestamps,
  describeTotal,
  describeWarnings,
  formatTotalTonnes,
  getName,
  indexCertificates,
  type ListTotal,
  listTotals,
} from '../describe-evidence.js';
import { readCertificate } from '../folder-files.js';
import { formatListName } from '../column-labels.js';
import { getText, type RowVersion } from '../row-versions.js';
import { formatCount, formatInstant, makePrintable } from '../text.js';
import { type ChosenFolder, readDrop, readPicker } from './chosen-folder.js';
import { createElement, createTable, getElement } from './element.js';
import { createListTable } from './list-table.js';

const MAX_LISTED = 200;
/** The CSS class, title and explanation of each verdict. */
const VERDICTS = {
  verified: ['good', 'Verified', 'Every step of the check was completed without a fault.'],
  'not verified': ['bad', 'Not verified', 'Do not rely on this folder.'],
  'could not be checked': ['unknown', 'Could not be checked', 'Nothing is known about this folder.'],
} as const;
const NOT_PROVEN = [
  'That the registry sent these records. It does not sign them: the log proves what the mirror recorded.',
  'That these are all organizations of the registry. The mirror knows only those that installed its app.',
];

startPage();

/** Connects the form of the page with the checker. */
function startPage(): void {
  const picker = getElement('folder', HTMLInputElement);
  const chosen = getElement('chosen', HTMLOutputElement);
  const button = getElement('check', HTMLButtonElement);
  const bar = getElement('bar', HTMLProgressElement);
  const progress = getElement('progress', HTMLOutputElement);
  let folder: ChosenFolder | null = null;

  /** Otherwise a browser does not notice that the same folder is chosen again. */
  picker.addEventListener('click', () => {
    picker.value = '';
  });
  picker.addEventListener('change', () => chooseFolder(readPicker(picker.files ?? [])));
  document.addEventListener('dragover', event => event.preventDefault());
  document.addEventListener('drop', event => {
    event.preventDefault();
    chosen.value = 'Reading the dropped folder …';
    readDrop(event.dataTransfer).then(chooseFolder, (error: unknown) => {
      chosen.value = `The dropped folder cannot be read (${String(error)}). Choose it with the button.`;
    });
  });
  getElement('form', HTMLFormElement).addEventListener('submit', event => {
    event.preventDefault();
    void check();
  });

  /** Remembers the chosen folder and clears the report. Null means that no folder was dropped. */
  function chooseFolder(next: ChosenFolder | null): void {
    folder = next;
    chosen.value =
      next === null
        ? 'Drop one folder, not a file.'
        : makePrintable(`${next.name}: ${formatCount(next.files.size, 'file')}`);
    clearReport();
  }

  /** Checks the chosen folder and shows the report. */
  async function check(): Promise<void> {
    clearReport();
    if (folder === null) {
      progress.value = 'Choose a folder first.';
      return;
    }
    const { files } = folder;
    const started = performance.now();
    const older = getElement('older', HTMLTextAreaElement).value.trim();
    button.disabled = true;
    bar.hidden = false;
    try {
      const report = await checkEvidence({
        files,
        key: getElement('key', HTMLInputElement).value,
        olderCheckpoint: older === '' ? '' : `${older}\n`,
        onProgress: showProgress,
      });
      progress.value = `Checked in ${((performance.now() - started) / 1000).toFixed(1)} s.`;
      showReport(report, files);
    } finally {
      button.disabled = false;
      bar.hidden = true;
    }
  }

  /** Shows the current step. For a step that counts something, `finished` and `total` say how much of it is done. */
  function showProgress(step: string, finished?: number, total?: number): void {
    if (finished === undefined || total === undefined) bar.removeAttribute('value');
    else [bar.max, bar.value] = [total, finished];
    progress.value = `${step}${total === undefined ? '' : `: ${finished} of ${total}`} …`;
  }
}

function clearReport(): void {
  getElement('verdict', HTMLElement).replaceChildren();
  getElement('report', HTMLElement).replaceChildren();
}

/** Shows a report: the verdict, and the sections of verified evidence if the folder is verified. */
function showReport(
  { verdict, faults, uncheckedFiles, evidence }: CheckReport,
  files: ChosenFolder['files'],
): void {
  const [className, title, explanation] = VERDICTS[verdict];
  getElement('verdict', HTMLElement).replaceChildren(
    createElement('div', { className: `verdict ${className}` }, [
      createElement('h2', {}, [title]),
      createElement('p', {}, [explanation]),
      ...(evidence === null ? [] : [createElement('p', {}, [describeFolder(evidence)])]),
      ...faults.map(fault => createElement('p', {}, [`Fault: ${fault}`])),
    ]),
  );
  getElement('report', HTMLElement).replaceChildren(
    ...(evidence === null ? [] : createEvidenceSections(evidence, files)),
    ...createSection(
      'Not checked',
      uncheckedFiles.length === 0
        ? []
        : [createList([...uncheckedFiles, ...describeTimestamps(uncheckedFiles)])],
    ),
  );
}

/** Creates the sections that show verified evidence. */
function createEvidenceSections(evidence: VerifiedEvidence, files: ChosenFolder['files']): HTMLElement[] {
  const warnings = describeWarnings(evidence);
  return [
    ...createSection('Note well', warnings.length === 0 ? [] : [createList(warnings)]),
    ...createSection('Totals', [createTotalsTable(evidence)]),
    ...createSection('Rows', createListTables(evidence, files)),
    ...createSection('When the lists were read', [createReadsTable(evidence)]),
    ...createSection('What was checked', [createList(describeEvidence(evidence))]),
    ...createSection('What is not proven', [createList(NOT_PROVEN)]),
  ];
}

/** Creates a section with a heading. Returns an empty array if there is no content. */
function createSection(title: string, content: readonly Node[]): HTMLElement[] {
  if (content.length === 0) return [];
  return [createElement('section', {}, [createElement('h2', {}, [title]), ...content])];
}

/** Creates a bulleted list of at most `MAX_LISTED` items, and counts the others. */
function createList(items: readonly string[]): HTMLElement {
  const omitted = items.length - MAX_LISTED;
  const shown = omitted > 0 ? [...items.slice(0, MAX_LISTED), `and ${formatCount(omitted, 'other')}`] : items;
  return createElement(
    'ul',
    {},
    shown.map(item => createElement('li', {}, [item])),
  );
}

/** Creates the table of the totals of each list. */
function createTotalsTable(evidence: VerifiedEvidence): HTMLElement {
  return createTable(
    'All sealed rows of each list; none is missing. Never add up different lines: they count some rows twice. Months and years are in UTC.',
    ['List', 'Rows', 'Tonnes', 'Without a usable amount'],
    listTotals(evidence).map(total => [
      describeTotal(total, evidence),
      String(total.rows),
      formatTotalTonnes(total) ?? '',
      formatTotalTonnes(total) === null ? '' : String(total.withoutAmount),
    ]),
    1,
  );
}

/** Creates the table of when each list was last read completely. */
function createReadsTable(evidence: VerifiedEvidence): HTMLElement {
  return createTable(
    'What the registry listed after the last complete read is not in this folder.',
    ['Organization', 'List', 'Last sealed complete read', 'Failed reads since'],
    evidence.reads.map(({ organization, list, readAt, failedSince }) => [
      getName(evidence, organization),
      formatListName(list),
      readAt === null ? 'never' : formatInstant(readAt),
      String(failedSince),
    ]),
    3,
  );
}

/**
 * Creates collapsible tables of the rows of each list. For a period, a list can have two tables: one with the rows that the registry dated
 * in the period, and one with the rows that the mirror first observed in the period. Their sums must not be mixed, because both may contain
 * the same row. A table is filled when it is opened.
 */
function createListTables(evidence: VerifiedEvidence, files: ChosenFolder['files']): HTMLElement[] {
  const certificates = indexCertificates(evidence);
  const groups = groupRows(evidence);
  return groups.map(([title, rows], index) => {
    const details = createElement('details', {}, [
      createElement('summary', {}, [`${title} (${formatCount(rows.length, 'row')})`]),
    ]);
    const fillWhenOpen = () => {
      if (!details.open || details.childElementCount > 1) return;
      const getOrganizationName = (id: string) => getName(evidence, id);
      const createCertificateButtons = (row: RowVersion) => createPdfButtons(row, certificates, files);
      const olderSize = evidence.older?.checkpoint.size ?? null;
      const { documents } = evidence;
      details.append(
        createListTable({ title, rows, documents, olderSize, getOrganizationName, createCertificateButtons }),
      );
    };
    details.addEventListener('toggle', fillWhenOpen);
    details.open = index === 0;
    return details;
  });
}

/** Returns the title and the rows of each table. */
function groupRows(evidence: VerifiedEvidence): (readonly [title: string, rows: readonly RowVersion[]])[] {
  const { header, months, rows, otherVersions } = evidence;
  if (header.scope === 'period') {
    const listRowsOf = ({ list, datedBy }: ListTotal) =>
      months.filter(month => month.list === list && month.datedBy === datedBy).flatMap(({ shown }) => shown);
    return listTotals(evidence).map(total => [describeTotal(total, evidence), listRowsOf(total)] as const);
  }
  const lists = [...new Set(rows.map(({ list }) => list))].toSorted((left, right) => {
    if ((left === 'retirements') !== (right === 'retirements')) return left === 'retirements' ? -1 : 1;
    return left < right ? -1 : 1;
  });
  const others = otherVersions.length === 0 ? [] : [['Earlier versions', otherVersions] as const];
  return [
    ...lists.map(list => [formatListName(list), rows.filter(row => row.list === list)] as const),
    ...others,
  ];
}

/** Creates the buttons that open and save the certificate of a row. Returns null if the row has none. */
function createPdfButtons(
  { list, leaf }: RowVersion,
  certificates: ReadonlyMap<string, string>,
  files: ChosenFolder['files'],
): Node | null {
  if (list !== 'retirements' && list !== 'certificates') return null;
  const id = getText(leaf.record, list === 'certificates' ? 'retirement_id' : 'id');
  const hash = certificates.get(id);
  if (hash === undefined) return null;
  const status = createElement('output');
  /** Reads the certificate and passes a URL of it to `use`. Shows an error beside the buttons. */
  const withPdfUrl = async (use: (url: string) => void) => {
    try {
      /** Hashed again, because the file may have changed since the check. */
      const bytes = await readCertificate(files, hash);
      use(URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/pdf' })));
    } catch (error) {
      status.value = error instanceof Error ? error.message : String(error);
    }
  };
  const openPdf = () => void withPdfUrl(url => window.open(url, '_blank', 'noopener'));
  const savePdf = () =>
    void withPdfUrl(url => createElement('a', { href: url, download: `certificate-${id}.pdf` }).click());
  const createButton = (label: string, onclick: () => void) => {
    const made = createElement('button', { type: 'button', onclick }, [label]);
    made.ariaLabel = `${label} the certificate of ${id}`;
    return made;
  };
  return createElement('span', { className: 'buttons' }, [
    createButton('Open', openPdf),
    createButton('Save', savePdf),
    status,
  ]);
}
