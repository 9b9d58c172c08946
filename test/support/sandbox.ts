import { createPublicKey, randomUUID, sign } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { temporaryFolder } from './folder.js';

export const ALL_PERMISSIONS = {
  organization_info: 'VIEW',
  organization_members: 'VIEW',
  organization_warehouse: 'WRITE',
  organization_inventory: 'REQUEST',
} as const;

export const VERSION = { 'x-registry-api-version': '2023-06-16' } as const;

/** A strict sandbox in a folder of its own. A fault inside it fails whoever stops it. */
export async function startTestSandbox(
  options: Partial<SandboxOptions> = {},
): Promise<{ sandbox: Sandbox; stop: () => Promise<void> }> {
  const unexpected: unknown[] = [];
  const onUnexpected = (error: unknown) => unexpected.push(error);
  const sandbox = await startSandbox({ port: 0, strict: true, onUnexpectedError: onUnexpected, ...options });
  const stop = async () => {
    await sandbox.close();
    if (unexpected.length > 0) throw new AggregateError(unexpected, 'the sandbox answered 500');
  };
  return { sandbox, stop };
}

/** The same, for all tests of a file. */
export async function startSandboxForFile(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const { sandbox, stop } = await startTestSandbox(options);
  afterAll(stop);
  return sandbox;
}

/** The same, going away with its test. */
export async function temporarySandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const { sandbox, stop } = await startTestSandbox({ folder: sandboxFolder(), ...options });
  onTestFinished(stop);
  return sandbox;
}

/** A folder that goes away with its test. */
export function sandboxFolder(): string {
  return temporaryFolder('carbon-sandbox-test-');
}

/** Its journal as a kill -9 leaves it at this instant, in a folder of its own. */
export function copyJournalAsKilled({ folder }: Pick<Sandbox, 'folder'>): string {
  const left = sandboxFolder();
  copyFileSync(join(folder, 'sandbox.journal'), join(left, 'sandbox.journal'));
  return left;
}

export function rowsOf({ registry }: Sandbox): unknown {
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

/** Made for tests alone, long ago: to make one takes longer than most tests. */
const KEYS =
  readFileSync(join(import.meta.dirname, '../fixtures/private-keys.pem'), 'utf8').match(/-.+?END.+?\n/gs) ??
  [];
const OF_STRANGERS = 4;

/** Each is another one than the last few. */
function takeInTurn(keys: readonly string[]): () => string {
  let taken = 0;
  return () => keys[taken++ % keys.length] ?? '';
}

/** One that no app has unless it is told. */
export const createPrivateKey = takeInTurn(KEYS.slice(0, OF_STRANGERS));
const keyOfTheNextApp = takeInTurn(KEYS.slice(OF_STRANGERS));

export function publicKeyOf(privateKey: string): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}

/** An app with a fresh key, asking for every permission unless told otherwise. */
export function registerApp(sandbox: Sandbox, wish: AppOptions = {}): TestApp {
  const { privateKey = keyOfTheNextApp(), ...words } = wish;
  const { id, name } = sandbox.registry.apps.register({
    name: `app ${randomUUID()}`,
    permissions: ALL_PERMISSIONS,
    ...words,
    publicKeys: [publicKeyOf(privateKey)],
  });
  return { id, name, privateKey };
}

/** An app JWT that is good for five minutes by the sandbox's clock. */
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

/** A new credit of a new public project, straight into an organization's warehouse or inventory. */
export function issueCredit(
  sandbox: Sandbox,
  organizationId: string,
  wish: {
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
    ...wish,
  });
  return creditId;
}

/** A retirement of so many tonnes out of the warehouse, by way of a reservation. */
export function retireFrom(
  { registry }: Sandbox,
  { organizationId, appId, creditId }: Readonly<Record<'organizationId' | 'appId' | 'creditId', string>>,
  amount: number,
): void {
  const { id } = registry.reservations.reserve(organizationId, appId, { creditId, amount });
  const retirementData = { reason: 'for good', beneficiaryName: 'Ada', comment: '' };
  registry.reservations.finish(organizationId, appId, { id, action: 'retire', body: { retirementData } });
}

/** How often it was asked on paths that end so. */
export function callsTo({ registry }: Sandbox, ending: string): number {
  const calls = registry.calls.list({ appId: null, installationId: null, limit: 10_000 });
  return calls.filter(({ path }) => path.endsWith(ending)).length;
}

export interface Installed {
  readonly app: TestApp;
  readonly organization: TestOrganization;
  readonly installationId: string;
  readonly token: string;
}

/** An app installed on an organization, with an installation token. New ones of each unless given. */
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

/** The credits that do not stand in exactly one place each, or of which less than nothing stands anywhere. */
export function findUnbalancedCredits({ registry }: Sandbox): readonly string[] {
  const { credits, holdings, reservations, retirements, transactions } = registry.store.tables;
  const standing = [
    ...holdings.list(),
    ...reservations.list().filter(({ state }) => state === 'outstanding'),
    ...transactions.list().filter(({ status }) => status === 'pending_queue'),
    ...retirements.list(),
  ];
  const sums = new Map<string, number>();
  for (const { creditId, amountMicro } of standing)
    sums.set(creditId, (sums.get(creditId) ?? 0) + amountMicro);
  const unequal = credits.list().filter(row => (sums.get(row.id) ?? 0) !== row.issuedMicro);
  const owed = holdings.list().filter(({ amountMicro }) => amountMicro < 0);
  return [...unequal.map(({ id }) => id), ...owed.map(({ creditId }) => creditId)];
}

export function issuedMicro({ registry }: Sandbox): number {
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

/** One call over real HTTP, with the headers that the registry wants. */
export async function ask(
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
      accept: 'application/json',
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
