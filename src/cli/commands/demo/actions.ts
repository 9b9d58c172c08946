import { randomUUID } from 'node:crypto';
import type { RegistryClient } from '../../../registry/clients.js';
import type { DemoAction } from '../../../console/demo/demo.js';
import type { Actions } from '../../../console/actions/actions.js';
import type { Reader } from '../../../store/contract/reader.js';
import { readFirstCredit } from '../../../query/singles.js';
import { readTargets } from '../../../query/reads/sync-progress.js';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { valueAt } from '../../paths.js';

export interface Stage {
  /** The registry, as the app of the mirror. */
  readonly connect: () => Promise<RegistryClient>;
  /** What a sandbox can and a registry cannot. */
  readonly control: ControlClient;
  readonly appId: string;
  readonly look: Actions['look'];
}

interface Held {
  readonly installationId: string;
  readonly organizationId: string;
  readonly reservationId: string;
}

const ONE_TONNE = '1';
const TEN_MINUTES_MS = 600_000;
const NAME_LENGTH = 8;
const FOR = { beneficiaryName: 'A visitor of the demo', reason: 'To see the mirror follow' };

/** What the page Demo offers. Of a hold no webhook tells: then the mirror is asked to look. */
export function createDemoActions({ connect, control, appId, look }: Stage): readonly DemoAction[] {
  const held: Held[] = [];

  async function clientOf({ installationId, organizationId }: Omit<Held, 'reservationId'>) {
    return (await connect()).organization(installationId, organizationId);
  }

  async function reserve(reader: Reader): Promise<Held> {
    const { creditId, ...where } = await findCredit(reader);
    const { id } = await (await clientOf(where)).reserve({ creditId, amount: ONE_TONNE });
    return { ...where, reservationId: id };
  }

  async function finish(hold: Held): Promise<void> {
    const client = await clientOf(hold);
    await client.finishReservation(hold.reservationId, 'retire', { retirementData: FOR });
  }

  async function install(fullName: string): Promise<void> {
    const made = await control('POST', '/organizations', {
      user: { email: `${randomUUID()}@customer.example` },
      organization: { fullName, type: 'marketParticipant' },
    });
    await control('POST', '/installations', { appId, organizationId: valueAt(made, 'organization.id') });
  }

  return [
    {
      name: 'retire',
      says: 'Retire 1 t and watch',
      shows:
        'A webhook tells of it: a retirement comes, the warehouse falls by 1 t, and a certificate follows.',
      run: async reader => {
        await finish(await reserve(reader));
        return `1 t was retired for ${FOR.beneficiaryName}.`;
      },
    },
    {
      name: 'reserve',
      says: 'Reserve 1 t',
      shows: 'A hold of ten minutes comes; meanwhile the tonne is in no warehouse.',
      run: async reader => {
        const hold = await reserve(reader);
        held.push(hold);
        await look([hold]);
        return `1 t is held by reservation ${hold.reservationId}.`;
      },
    },
    {
      name: 'finish',
      says: 'Finish the reservation',
      shows: 'The tonne that is held is retired.',
      run: async () => {
        const hold = held.pop();
        if (hold === undefined) return 'Nothing is held: reserve 1 t first.';
        await finish(hold);
        return `Reservation ${hold.reservationId} was finished.`;
      },
    },
    {
      name: 'lose',
      says: 'Retire 1 t and lose its webhook',
      shows: 'Nobody tells the mirror: the next read of the schedule finds it and counts it as drift.',
      run: async reader => {
        const hold = await reserve(reader);
        await control('PATCH', '/webhooks', { drop: 1 });
        await finish(hold);
        return '1 t was retired, and its webhook is lost.';
      },
    },
    {
      name: 'install',
      says: 'Let a new customer install the app',
      shows: 'A webhook tells of it: an organization comes, and its lists are read for the first time.',
      run: async () => {
        const name = `Customer ${randomUUID().slice(0, NAME_LENGTH)}`;
        await install(name);
        return `${name} has installed the app.`;
      },
    },
    {
      name: 'clock',
      says: 'Move its clock by ten minutes',
      shows: 'Holds end, and tokens grow old.',
      run: async () => {
        await control('POST', '/clock', { moveMs: TEN_MINUTES_MS });
        return 'The clock of the registry is ten minutes further.';
      },
    },
  ];
}

async function findCredit(reader: Reader) {
  for (const { installationId, organizationId, state } of await readTargets(reader, null)) {
    if (state !== 'active' || organizationId === null) continue;
    const creditId = await readFirstCredit(reader, 'warehouse_credits', organizationId);
    if (creditId !== null) return { installationId, organizationId, creditId };
  }
  throw new Error('no warehouse that the mirror knows of holds a credit');
}
