import { createPublicKey, randomUUID, sign } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { temporaryFolder } from './folder.js';

export const ALL_PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
} as const;

export const VERSION = { 'x-registry-api-version': '2023-06-16' } as const;

/** Starts a strict sandbox in a temporary folder. `stop` rejects if the sandbox had an internal error. */
export async function startTestSandbox(
  options: Partial<SandboxOptions> = {},
): Promise<{ sandbox: Sandbox; stop: () => Promise<void> }> {
  const unexpectedErrors: unknown[] = [];
  const onUnexpectedError = (error: unknown) => unexpectedErrors.push(error);
  const sandbox = await startSandbox({ port: 0, strict: true, onUnexpectedError, ...options });
  const stop = async () => {
    await sandbox.close();
    if (unexpectedErrors.length > 0) throw new AggregateError(unexpectedErrors, 'the sandbox answered 500');
  };
  return { sandbox, stop };
}

/** Starts a strict sandbox for all tests of a file, and stops it after them. */
export async function startSandboxForFile(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const { sandbox, stop } = await startTestSandbox(options);
  afterAll(stop);
  return sandbox;
}

/** Starts a strict sandbox, and stops and removes it after the running test. */
export async function startTemporarySandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const { sandbox, stop } = await startTestSandbox({ folder: createTemporarySandboxFolder(), ...options });
  onTestFinished(stop);
  return sandbox;
}

/** Creates a folder that is removed after the running test. */
export function createTemporarySandboxFolder(): string {
  return temporaryFolder('carbon-sandbox-test-');
}

/** Copies the journal, as a `kill -9` would leave it now, into a new folder. Returns that folder. */
export function copyJournalAsKilled({ folder }: Pick<Sandbox, 'folder'>): string {
  const copy = createTemporarySandboxFolder();
  copyFileSync(join(folder, 'sandbox.journal'), join(copy, 'sandbox.journal'));
  return copy;
}

/** Returns all rows of the sandbox as sorted text, to compare two sandboxes. */
export function listAllRows({ registry }: Sandbox): unknown {
  return Object.entries(registry.store.tables).flatMap(([name, table]) => {
    const lines: string[] = table.list().map(row => `${name} ${JSON.stringify(row)}`);
    return lines.toSorted();
  });
}

export interface TestApp {
  readonly id: string;
  readonly name: string;
  /** PKCS#8 PEM. */
  readonly privateKey: string;
}

export interface AppOptions {
  readonly name?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly webhookUrl?: string;
  readonly webhookSecret?: string;
  readonly organizationInfo?: boolean;
  readonly privateKey?: string;
}

/** RSA keys for tests only. They are stored because generating one takes longer than most tests. */
const KEYS =
  readFileSync(join(import.meta.dirname, '../fixtures/private-keys.pem'), 'utf8').match(/-.+?END.+?\n/gs) ??
  [];
/** How many of the keys are never given to an app. */
const UNUSED_KEYS = 4;

/** Creates a function that returns the keys in turn, so that each key differs from the last few. */
function createRotation(keys: readonly string[]): () => string {
  let next = 0;
  return () => keys[next++ % keys.length] ?? '';
}

/** Returns a private key that no app has, unless the test registers it. */
export const createPrivateKey = createRotation(KEYS.slice(0, UNUSED_KEYS));
const createAppKey = createRotation(KEYS.slice(UNUSED_KEYS));

export function getPublicKey(privateKey: string): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}

/** Registers an app with a key of its own that requests every permission by default. */
export function registerApp(sandbox: Sandbox, options: AppOptions = {}): TestApp {
  const { privateKey = createAppKey(), ...settings } = options;
  const { id, name } = sandbox.registry.apps.register({
    name: `app ${randomUUID()}`,
    permissions: ALL_PERMISSIONS,
    ...settings,
    publicKeys: [getPublicKey(privateKey)],
  });
  return { id, name, privateKey };
}

/** Signs an app JWT that is valid for five minutes by the sandbox's clock. */
export function signAppJwt(sandbox: Sandbox, app: TestApp, claims: object = {}): string {
  const now = Math.floor(sandbox.registry.store.clock.now() / 1000);
  return signJwt(app.privateKey, { alg: 'RS256', iss: app.id, iat: now - 60, exp: now + 300, ...claims });
}

export function signJwt(
  privateKey: string,
  claims: object,
  header: object = { alg: 'RS256', typ: 'JWT' },
): string {
  const signed = [header, claims]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

export interface TestOrganization {
  readonly id: string;
  readonly fullName: string;
}

export function createOrganization(
  sandbox: Sandbox,
  fullName = `organization ${randomUUID()}`,
): TestOrganization {
  const { organization } = sandbox.registry.organizations.create({
    user: { email: `${randomUUID()}@people.example`, fullName: 'Ada Admin' },
    organization: { fullName, type: 'marketParticipant', countryCode: 'IS' },
  });
  return { id: organization.id, fullName };
}

/** Issues a credit of a new public project into an organization's warehouse or inventory, and returns its id. */
export function issueCredit(
  sandbox: Sandbox,
  organizationId: string,
  options: {
    readonly place?: 'warehouse' | 'inventory';
    readonly amount?: number;
    readonly vintage?: string;
    readonly type?: 'exPost' | 'exAnte';
  } = {},
): string {
  const project = sandbox.registry.projects.create({
    fullName: `project ${randomUUID()}`,
    countryCode: 'IS',
  });
  const { creditId } = sandbox.registry.credits.issue({
    organizationId,
    projectId: project.id,
    place: 'warehouse',
    amount: 100,
    vintage: '2021',
    ...options,
  });
  return creditId;
}

/** Retires an amount in tonnes from a warehouse, by a reservation. */
export function retireFromWarehouse(
  { registry }: Sandbox,
  { organizationId, appId, creditId }: Readonly<Record<'organizationId' | 'appId' | 'creditId', string>>,
  amount: number,
): void {
  const { id } = registry.reservations.reserve(organizationId, appId, { creditId, amount });
  const retirementData = { reason: 'for good', beneficiaryName: 'Ada', comment: '' };
  registry.reservations.finish(organizationId, appId, { id, action: 'retire', body: { retirementData } });
}

/** Counts the calls in the sandbox's log whose path ends with `ending`. */
export function countCallsTo({ registry }: Sandbox, ending: string): number {
  const calls = registry.calls.list({ appId: null, installationId: null, limit: 10_000 });
  return calls.filter(({ path }) => path.endsWith(ending)).length;
}

/** An app that is installed on an organization, and a token of the installation. */
export interface Installed {
  readonly app: TestApp;
  readonly organization: TestOrganization;
  readonly installationId: string;
  readonly token: string;
}

/** Installs an app on an organization and creates a token. Creates the app and the organization if they are not given. */
export function installApp(
  sandbox: Sandbox,
  { app = registerApp(sandbox), organization = createOrganization(sandbox) }: Partial<Installed> = {},
): Installed {
  const { id } = sandbox.registry.installations.install(app.id, organization.id);
  return { app, organization, installationId: id, token: mintToken(sandbox, app, id) };
}

export function mintToken(sandbox: Sandbox, app: TestApp, installationId?: string): string {
  const { installations, tokens } = sandbox.registry;
  if (installationId === undefined) return tokens.mint(app.id).token;
  return tokens.mint(app.id, installations.getActive(app.id, installationId)).token;
}

/** Returns the ids of credits whose parts do not sum to the issued amount, and of negative holdings. */
export function findUnbalancedCredits({ registry }: Sandbox): readonly string[] {
  const { credits, holdings, reservations, retirements, transactions } = registry.store.tables;
  const parts = [
    ...holdings.list(),
    ...reservations.list().filter(({ state }) => state === 'outstanding'),
    ...transactions.list().filter(({ status }) => status === 'pending_queue'),
    ...retirements.list(),
  ];
  const sums = new Map<string, number>();
  for (const { creditId, amountMicro } of parts) sums.set(creditId, (sums.get(creditId) ?? 0) + amountMicro);
  const unbalanced = credits.list().filter(row => (sums.get(row.id) ?? 0) !== row.issuedMicro);
  const negative = holdings.list().filter(({ amountMicro }) => amountMicro < 0);
  return [...unbalanced.map(({ id }) => id), ...negative.map(({ creditId }) => creditId)];
}

/** Sums the issued amounts of all credits, in millionths of a tonne. */
export function sumIssuedMicro({ registry }: Sandbox): number {
  return registry.store.tables.credits.list().reduce((sum, row) => sum + row.issuedMicro, 0);
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint: the answers of a registry are what the tests look into
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Headers;
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Makes a call such as `GET /projects` over HTTP, with the headers that the registry requires. */
export async function callSandbox(
  sandbox: Sandbox,
  call: string,
  { token, body, headers }: CallOptions = {},
): Promise<Answer> {
  const [method = 'GET', path = '/'] = call.split(' ');
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...VERSION,
      accept: path.endsWith('/pdf') ? 'application/octet-stream' : 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

/** Makes a call with a fixed credential, such as `call('GET /projects')`. */
export type Caller = (call: string, body?: unknown) => Promise<Answer>;

export function createCaller(sandbox: Sandbox, token: string): Caller {
  return async (call, body) => callSandbox(sandbox, call, { token, body });
}

/** Creates a caller of the control API. Its paths leave out `/_sandbox`. */
export function createControlCaller(sandbox: Sandbox): Caller {
  return async (call, body) => callSandbox(sandbox, call.replace(' ', ' /_sandbox'), { body });
}

/** Returns the status and the error body of a refused call. */
export function createRefusal(status: number): object {
  return { status, body: { statusCode: status, message: expect.anything(), error: expect.any(String) } };
}
