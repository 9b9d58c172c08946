/** The folder of the page that tools/build.js builds of a script, a style and HTML. */
export const PAGE_FOLDER = 'evidence/checker/page/';

/** Modules through which other areas use a database: the ports, and the code that picks an engine. */
const ENGINE = [
  'store/contract',
  'store/engine.ts',
  'store/settings.ts',
  'store/migrations.ts',
  'store/open-engine.ts',
  'store/open-receiver.ts',
];

/** Everything except the inside of an engine, for areas that connect the parts. */
const EVERYTHING = [
  ...ENGINE,
  'api',
  'app',
  'client',
  'console',
  'events',
  'evidence',
  'folder',
  'inbox',
  'mirror',
  'package',
  'query',
  'registry',
  'resources',
  'sandbox',
  'sync',
  'thread',
  'webhook',
  'text',
];

/**
 * The imports that each area may use: areas, their folders, or files. All other imports and areas are forbidden.
 * A folder or file with its own row is an area of its own.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  registry: ['text'],
  package: [],
  folder: [],
  thread: [],
  'registry/auth': ['registry'],
  client: ['registry'],
  resources: ['registry/object-models.ts'],
  inbox: ['registry/object-models.ts', 'text'],
  mirror: ['store/contract', 'resources', 'text', 'registry/object-models.ts', 'registry/pages/id-set.ts'],
  migrations: [],
  store: [
    'inbox',
    'mirror',
    'evidence/port.ts',
    'events/port.ts',
    'events/epoch-name.ts',
    'migrations',
    'resources',
    'package',
    'folder',
    'thread',
    'text',
  ],
  query: [
    'store/contract',
    'store/sql/builder.ts',
    'store/sql/columns.ts',
    'inbox/job.ts',
    'inbox/order.ts',
    'resources',
    'text',
    'registry/object-models.ts',
    'registry/errors.ts',
    'registry/json/amount.ts',
  ],
  webhook: ['inbox', 'thread', 'registry/object-models.ts', 'text', 'registry/json/parse-payload.ts'],
  sync: ['registry', 'inbox', 'mirror', 'resources', 'text'],
  text: [],
  console: ['text', 'store/contract', 'query', 'resources', 'inbox/order.ts'],
  api: ['text', 'store/contract', 'query', 'resources', 'inbox/token.ts', 'webhook/problem-response.ts'],
  evidence: [],
  events: ['store/contract', 'text'],
  sandbox: ['text/loopback.ts', 'text/notice-page.ts'],
  cli: EVERYTHING,
  app: EVERYTHING,
  'app/config': [
    'app/outbound/address-ranges.ts',
    'registry/auth/private-key.ts',
    'evidence/signing-key.ts',
    'store/settings.ts',
    'text',
  ],
  'app/outbound': ['text'],
  'app/log': [],
  'app/operations': ['webhook/problem-response.ts', 'text'],
  main: [...EVERYTHING, 'cli'],
};

/** In these areas, statements about data are built with Kysely. Only DDL, PRAGMA and commands of a session are text. */
export const SQL_AREAS = ['store', 'inbox'];
/** Compilers of Kysely, which write SQL. */
export const SQL_COMPILERS = ['store/sqlite/reader.ts', 'store/postgres/reader.ts'];

export interface DependencyHome {
  readonly homes: readonly string[];
  /** How the sandbox may use it: in one file of its own, in any, or not at all. */
  readonly sandbox: 'one' | 'any' | 'none';
}

/** Dependencies that only some places may use. A home is an area, a folder, a file, or a file name prefix with a star. */
export const HOMES: Readonly<Record<string, DependencyHome>> = {
  'process.env': { homes: ['app/config/read-settings.ts'], sandbox: 'one' },
  'the global fetch': {
    homes: ['registry/http/http-settings.ts', 'cli/post-webhook.ts'],
    sandbox: 'one',
  },
  'the console': { homes: ['evidence/checker/node'], sandbox: 'none' },
  'process.stdout': { homes: ['main.ts'], sandbox: 'none' },
  'the wall clock': { homes: ['main.ts', 'cli', 'registry/http/http-settings.ts'], sandbox: 'one' },
  'node:fs': {
    homes: [
      'app/config/read-settings.ts',
      'package.ts',
      'folder.ts',
      'evidence/key-file.ts',
      'events/key-file.ts',
      'evidence/checker/node',
      'store/sqlite',
      'cli',
    ],
    sandbox: 'any',
  },
  'node:http': {
    homes: ['webhook', 'app/operations', 'app/outbound', 'console', 'main.ts', 'cli'],
    sandbox: 'any',
  },
  'a raw socket': {
    homes: ['app/outbound', 'cli/console-proxy.ts', 'text/address-list.ts'],
    sandbox: 'none',
  },
  'better-sqlite3': { homes: ['store/sqlite'], sandbox: 'none' },
  'better-sqlite3-12': { homes: ['store/sqlite'], sandbox: 'none' },
  commander: { homes: ['cli', 'main.ts'], sandbox: 'none' },
  croner: { homes: ['sync', 'app/config'], sandbox: 'none' },
  express: { homes: ['webhook', 'app/operations', 'console', 'api'], sandbox: 'any' },
  jose: { homes: ['registry/auth'], sandbox: 'one' },
  kysely: { homes: ['store', 'query'], sandbox: 'none' },
  'p-queue': { homes: ['sync', 'console'], sandbox: 'none' },
  pg: { homes: ['store/postgres'], sandbox: 'none' },
  pino: { homes: ['app/log'], sandbox: 'none' },
  'prom-client': { homes: ['app/operations'], sandbox: 'none' },
};

export const BUILT_IN_HOMES: Readonly<Record<string, string>> = {
  fs: 'node:fs',
  'fs/promises': 'node:fs',
  http: 'node:http',
  https: 'a raw socket',
  http2: 'a raw socket',
  net: 'a raw socket',
  tls: 'a raw socket',
  dgram: 'a raw socket',
  process: 'process.env',
  sqlite: 'better-sqlite3',
};
