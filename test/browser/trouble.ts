import { storeCertificate } from '../support/certificates.js';
import { type ConsoleStage, openConsoleStage } from '../support/console.js';
import { writeInstallation } from '../support/mirror/open.js';
import { amount, credit, retirement } from '../support/mirror/rows.js';

/** Kinds of trouble in a mirror whose pages are measured and photographed. */
export const TROUBLES = ['suspended', 'read failed', 'worker gone', '1,000 organizations'] as const;

export type TroubleKind = (typeof TROUBLES)[number];

interface ConsoleInTrouble extends ConsoleStage {
  /** Writes the heartbeats of the processes that still run. */
  readonly writeHeartbeats: () => Promise<void>;
}

const FEW = 6;
const MANY = 1_000;
const HOUR_MS = 3_600_000;
const NAMES = [
  'Northern Peatland Restoration Cooperative',
  'Fjord Shipping',
  'Harbour Ferries and Freight Company',
];
const PROJECTS = 24;

const ORGANIZATION = {
  type: 'marketParticipant',
  countryCode: 'IS',
  city: null,
  zip: null,
  physicalAddress: null,
  registrationNumber: null,
  logo: null,
  website: null,
  isPublic: true,
  createdAt: null,
  updatedAt: null,
  document: '{}',
};

/** Opens a console with a row for each detail page, very large amounts and one kind of trouble. */
export async function openConsoleInTrouble(kind: TroubleKind): Promise<ConsoleInTrouble> {
  const stage = await openConsoleStage({ canAct: true, now: Date.now });
  const { scene, tables } = stage;
  const organizations = kind === '1,000 organizations' ? MANY : FEW;
  for (let n = 1; n <= organizations; n += 1) await addOrganization(stage, n);
  await storeCertificate(scene, 'r-1');
  const instant = (msAgo: number) => new Date(scene.clock.at - msAgo).toISOString();
  const [now, hourAgo] = [instant(0), instant(HOUR_MS)];
  await scene.mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
  await tables.change(
    `INSERT INTO inbox.processes (role, host, pid, started_at, seen_at)
    VALUES ('work', 'host', 1, '${hourAgo}', '${hourAgo}'), ('receive', 'host', 2, '${hourAgo}', '${hourAgo}')`,
  );
  const beat = async (): Promise<void> => {
    const seenAt = new Date().toISOString();
    const workerSeenAt = kind === 'worker gone' ? hourAgo : seenAt;
    await tables.change(
      `UPDATE inbox.processes SET seen_at = CASE role WHEN 'work' THEN '${workerSeenAt}' ELSE '${seenAt}' END`,
    );
    await tables.change(`UPDATE origin SET worker_seen_at = '${workerSeenAt}'`);
  };
  await tables.change(
    `INSERT INTO inbox.jobs (id, kind, organization_id, installation_id, part, dedupe_key, trigger, payload, state, attempts, run_at, created_at, started_at, finished_at, last_error, claim, only_duplicates_asked)
    VALUES (5, 'installation', 'organization-1', 'installation-1', 'data', 'k', 'delivery', '{}', '${kind === 'read failed' ? 'failed' : 'done'}', 10, '${now}', '${now}', '${now}', '${now}', 'GET /organizations/organization-1/warehouse answered 503 Service Unavailable', 1, 0)`,
  );
  await tables.change(
    `INSERT INTO inbox.deliveries (id, received_at, event, installation_id, signed_text_sha256, stored_text_id, verdict, secret_index, duplicates, job_id)
    VALUES (7, '${now}', 'warehouseTransaction', 'installation-1', 'digest', 1, 'accepted', 0, 2, 5)`,
  );
  if (kind === 'suspended' || kind === '1,000 organizations')
    await tables.change(
      `UPDATE installations SET state = 'suspended' WHERE organization_id = 'organization-1'`,
    );
  if (kind === 'read failed' || kind === '1,000 organizations')
    await tables.change(
      `UPDATE resource_states SET outcome = 'failed', error = 'answered 503', failing_since = '${hourAgo}', webhook_failed = 1 WHERE organization_id = 'organization-2'`,
    );
  await beat();
  return { ...stage, writeHeartbeats: beat };
}

async function addOrganization({ scene }: ConsoleStage, n: number): Promise<void> {
  const organizationId = `organization-${n}`;
  const fullName = `${NAMES[n % NAMES.length]} ${n}`;
  await writeInstallation(scene, n);
  await scene.read('organization', [{ ...ORGANIZATION, id: organizationId, fullName }], { organizationId });
  const createCredit = (type: string, tonnes: string) => {
    const place = n % PROJECTS;
    return credit(`c-${n}-${type}`, {
      organizationId,
      project: { id: `project-${place}`, fullName: `Project ${place} of a name that takes some room` },
      vintage: String(2000 + (n % 25)),
      type,
      amount: amount(tonnes),
    });
  };
  const credits = [
    createCredit('exPost', `${318_000 + n}.123456`),
    createCredit('exAnte', `${87_000 + n}.654321`),
  ];
  await scene.read('warehouse', credits, { organizationId });
  await scene.read(
    'retirements',
    [retirement(`r-${n}`, { organizationId, amount: amount('12345.678901') })],
    {
      organizationId,
    },
  );
}
