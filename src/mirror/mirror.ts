import { write } from '../database/open.js';
import type { Sqlite } from '../database/open.js';
import { type Books, createBooks, type RunRequest } from './books.js';
import { type Announcements, createAnnouncements } from './announcements.js';
import { formatInstant } from './columns.js';
import type { Task } from './fence.js';
import {
  createInstallations,
  type InstallationRead,
  type InstallationStateRead,
  type Written,
} from './installations.js';
import { ListRead, type Read } from './list-read.js';
import { checkOrigin, setSchedule } from './origin.js';
import { createPages } from './pages.js';
import type { Companion, ListParts } from './parts.js';
import { createPeople } from './people.js';
import { createProjects, type ProjectsWalk } from './projects.js';
import { createPruneRuns } from './prune-runs.js';
import { type Purge, type Purged, purge, removeMembers } from './removal.js';
import {
  DESCRIPTORS,
  type Descriptor,
  type Items,
  type ListResource,
  RESOURCES,
  type Resource,
} from './resources.js';
import { createRetirementCompanion, noCompanion } from './retirement-companion.js';
import { createRows, type Rows } from './rows.js';
import { Run } from './run.js';

export interface ReadRequest<Name extends ListResource> extends RunRequest {
  readonly resource: Name;
}

/** Everything that writes mirror.db, but for certificates. */
export interface Mirror {
  readonly books: Books;
  readonly announcements: Announcements;
  /** Throws `foreign_registry` if the mirror was filled from another registry or app. */
  checkOrigin(baseUrl: string, appId: string): void;
  setSchedule(seconds: number): void;
  /** At the start of every claim: refuses older ones from now on, and ends the runs that they left open. */
  raiseFence(task: Task): void;
  highestClaim(): number;
  beginRead<Name extends ListResource>(request: ReadRequest<Name>): Read<Items[Name]>;
  beginProjects(request: Omit<RunRequest, 'resource'>): ProjectsWalk;
  writeInstallation(read: InstallationRead): Written;
  writeInstallationState(read: InstallationStateRead): Written;
  /** The permission for it is missing. What was mirrored stays; the next read that works takes the mark away. */
  markForbidden(task: Task, resource: Resource, at: number): void;
  /** The same for what was refused in spite of its permission: it is believed for longer each time. */
  markRefused(task: Task, resource: Resource, at: number): void;
  /** The same for what the registry does not have for this organization. */
  markNotOffered(task: Task, resource: Resource, at: number): void;
  forget(email: string): number;
  /** Removes all members, past ones too, and what is said of them. */
  removeMembers(): Promise<void>;
  /** Removes all that was mirrored for an organization, with its certificate files. */
  purge(purge: Purge): Promise<Purged>;
  /** Runs that wrote rows stay, and the last complete one of each resource and UTC day. */
  pruneRuns(before: number): Promise<number>;
}

/** Keys come in no order: a cache that holds their index makes a first read of a long list twice as fast. */
const CACHE_KB = 32_000;
/** Pages in the log before they are moved to the file. Few at a time keep each commit short. */
const CHECKPOINT_PAGES = 500;

export interface MirrorOptions {
  /** False keeps members out, and what is said of them too. */
  readonly members: boolean;
}

export function createMirror(
  db: Sqlite,
  now: () => number,
  { members }: MirrorOptions = { members: true },
): Mirror {
  db.pragma(`cache_size = -${CACHE_KB}`);
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const books = createBooks(db);
  const installations = createInstallations(
    books,
    RESOURCES.filter(resource => members || resource !== 'members'),
    now,
  );
  const projects = createProjects(books, now);
  const people = createPeople(db);
  const rows = createAllRows(db);
  const companions = createCompanions(db);
  const note = db.prepare<[string, string]>(
    'INSERT INTO project_references VALUES (?, ?) ON CONFLICT DO NOTHING',
  );

  function partsOf<Name extends ListResource>(request: ReadRequest<Name>): ListParts<Items[Name]> {
    const { resource, organizationId } = request;
    const descriptor: Descriptor<Items[Name]> = DESCRIPTORS[resource];
    const table: Rows<Items[Name]> = rows[resource];
    const companion: Companion<Items[Name]> = companions[resource];
    const noted = new Set<string>();
    return {
      request,
      books,
      run: new Run(books, request, 'data', now),
      rows: table,
      descriptor,
      pages: createPages(db, organizationId, resource),
      companion,
      now,
      noteProject: id => {
        if (!noted.has(id)) note.run(organizationId, id);
        noted.add(id);
      },
      mayKeep: text => people.mayKeep(text),
      admits: resource === 'members' ? () => people.admits() : () => () => true,
    };
  }

  function mark(how: 'forbid' | 'refuse' | 'dismiss', task: Task, resource: Resource, at: number): void {
    const { organizationId } = task;
    write(db, () => {
      books.fence.hold(task);
      books.prepareStates(organizationId, [resource]);
      books[how]({ organization_id: organizationId, resource, at: formatInstant(at) });
    });
  }

  return {
    books,
    announcements: createAnnouncements(db),
    checkOrigin: (baseUrl, appId) => checkOrigin(db, baseUrl, appId, now()),
    setSchedule: seconds => setSchedule(db, seconds),
    raiseFence: task =>
      write(db, () => {
        books.fence.hold(task);
        books.interruptRuns(task.organizationId, task.lane, task.claim, formatInstant(now()));
      }),
    highestClaim: () => books.fence.highest(),
    beginRead: request => new ListRead(partsOf(request)),
    beginProjects: projects,
    writeInstallation: installations.put,
    writeInstallationState: installations.putState,
    markForbidden: (task, resource, at) => mark('forbid', task, resource, at),
    markRefused: (task, resource, at) => mark('refuse', task, resource, at),
    markNotOffered: (task, resource, at) => mark('dismiss', task, resource, at),
    forget: email => people.forget(email, now()),
    removeMembers: () => removeMembers(db),
    purge: asked => purge(books, asked),
    pruneRuns: createPruneRuns(db),
  };
}

function createAllRows(db: Sqlite): { readonly [Name in ListResource]: Rows<Items[Name]> } {
  return {
    organization: createRows(db, DESCRIPTORS.organization),
    warehouse: createRows(db, DESCRIPTORS.warehouse),
    reservations: createRows(db, DESCRIPTORS.reservations),
    inventory: createRows(db, DESCRIPTORS.inventory),
    inventory_requests: createRows(db, DESCRIPTORS.inventory_requests),
    retirements: createRows(db, DESCRIPTORS.retirements),
    addresses: createRows(db, DESCRIPTORS.addresses),
    members: createRows(db, DESCRIPTORS.members),
  };
}

function createCompanions(db: Sqlite): { readonly [Name in ListResource]: Companion<Items[Name]> } {
  return {
    organization: noCompanion(),
    warehouse: noCompanion(),
    reservations: noCompanion(),
    inventory: noCompanion(),
    inventory_requests: noCompanion(),
    retirements: createRetirementCompanion(db),
    addresses: noCompanion(),
    members: noCompanion(),
  };
}
