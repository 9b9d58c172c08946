import { LONGEST_LOG_BYTES } from '../log-state.js';
import { type Sqlite, write } from '../open.js';
import { formatInstant } from '../../../resources/columns.js';
import { createAnnouncements } from './announcements.js';
import { createFindings } from './findings.js';
import { createRunRows } from './run-rows.js';
import { createCertificateRows } from './certificates.js';
import { type CertificateFiles, createUnnamedFiles } from './files.js';
import { createInstallations } from './installations.js';
import { createListRows, forEachList } from './list-rows.js';
import { createCommit } from './list-writes.js';
import type { MirrorOperations } from './operations.js';
import { checkOrigin, filledSince, setSchedule } from './origin.js';
import { createPages } from './pages.js';
import { createPeople } from './people.js';
import { countWritten, createProjects } from './projects.js';
import { createPruneRuns } from './prune-runs.js';
import { createRemoval } from './removal.js';
import { createRuns } from './runs.js';
import { createLastReads } from './last-reads.js';
import { createTransactions } from './transactions.js';

/** Keys come in no order: a cache that holds their index makes a first read of a long list twice as fast. */
const CACHE_KB = 32_000;
const DUE_AT_ONCE = 500;

const WRITTEN = { added: 'added', changed: 'changed', unchanged: 'unchanged' } as const;
const FETCHED = { stored: 'added', replaced: 'changed', unchanged: 'unchanged' } as const;

export function createMirrorOperations(db: Sqlite, files: CertificateFiles): MirrorOperations {
  db.pragma(`cache_size = -${CACHE_KB}`);
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  // Keys come in no order, and what many commits touch is moved once.
  db.pragma(`wal_autocheckpoint = ${Math.round(LONGEST_LOG_BYTES / pageBytes)}`);
  const runRows = createRunRows(db);
  const lastReads = createLastReads(db);
  const pages = createPages(db);
  const people = createPeople(db);
  const runs = createRuns(runRows, people.mayKeep);
  const projects = createProjects(db, runRows);
  const certificates = createCertificateRows(runRows, files);
  const unnamed = createUnnamedFiles(db, files);
  const announcements = createAnnouncements(db);
  const removal = createRemoval(db, runRows, unnamed);
  const rows = forEachList(resource => createListRows(db, resource));

  return {
    checkOrigin: (baseUrl, appId, at) => checkOrigin(db, baseUrl, appId, at),
    setSchedule: seconds => setSchedule(db, seconds),
    raiseFence: (task, at) =>
      write(db, () => {
        runRows.fence.take(task);
        runRows.interruptRuns(task.organizationId, task.lane, task.claim, formatInstant(at));
      }),
    highestClaim: () => runRows.fence.highest(),
    ...lastReads,
    writeInstallation: createInstallations(db, runRows),
    mark: (how, task, resources, at) =>
      write(db, () => {
        const { organizationId } = task;
        runRows.fence.take(task);
        runRows.prepareStates(organizationId, resources);
        for (const resource of resources) {
          runRows.mark(how, { organization_id: organizationId, resource, at: formatInstant(at) });
        }
      }),
    begin: runs.begin,
    pages: pages.from,
    find: ({ organizationId, resource }, keys, versions) => [
      ...rows(resource).among(organizationId, versions),
      ...rows(resource).find(organizationId, keys),
    ],
    after: ({ organizationId, resource }, key, limit) => rows(resource).after(organizationId, key, limit),
    commit: createCommit(db, { runRows, runs, pages, people }),
    closeRun: runs.closeRow,
    forgottenPeople: people.forgotten,
    ...createTransactions(db, runRows),
    dueProjects: projects.due,
    writeProjects: (run, answers, at) =>
      write(db, () => {
        const entered = runs.enter(run);
        const written = projects.write(answers, at, entered);
        return { ...runs.leave(entered, countWritten(written, WRITTEN), null), written };
      }),
    enterCertificates: certificates.enter,
    makeCertificatesDue: (organizationId, which, at) =>
      (which === 'all' ? certificates.makeDue : certificates.makeAheadDue)(organizationId, at, DUE_AT_ONCE),
    dueCertificates: certificates.due,
    writeCertificates: (run, answers) =>
      write(db, () => {
        const entered = runs.enter(run);
        const written = certificates.write(answers, entered);
        return { ...runs.leave(entered, countWritten(written, FETCHED), null), written };
      }),
    removeUnnamedFiles: unnamed.remove,
    filledSince: () => filledSince(db),
    announcements: () => ({
      watchedAt: announcements.watchedAt(),
      oldestRead: announcements.oldestRead(),
      announced: announcements.announced(),
    }),
    watchedResources: ids => new Map(ids.map(id => [id, announcements.resourcesOf(id)])),
    announce: announcements.announce,
    keepFindings: createFindings(db),
    forget: people.forget,
    removeMembers: removal.removeMembers,
    beginPurge: removal.begin,
    purgeRows: removal.purgeRows,
    endPurge: removal.end,
    pruneRuns: createPruneRuns(db),
    close: () => void db.close(),
  };
}
