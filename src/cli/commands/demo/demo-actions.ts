import { randomUUID } from 'node:crypto';
import type { RegistryClient } from '../../../registry/client-types.js';
import type { DemoAction } from '../../../console/demo/demo-page.js';
import type { ConsoleActions } from '../../../console/actions/action-routes.js';
import type { Reader } from '../../../store/contract/reader.js';
import { readLowestCreditId, readInstallationTargets } from '../../../query/at-registry.js';
import type { ControlClient } from '../../../sandbox/control/control-client.js';
import { getValueAtPath } from '../../value-at-path.js';

export interface DemoActionTools {
  /** Connects to the registry as the app of the mirror. */
  readonly connect: () => Promise<RegistryClient>;
  /** The control API of the sandbox, for what a registry cannot do. */
  readonly control: ControlClient;
  readonly appId: string;
  readonly sync: ConsoleActions['requestSyncs'];
}

const ONE_TONNE = '1';
const NAME_LENGTH = 8;
const RETIREMENT_DATA = { beneficiaryName: 'A visitor of the demo', reason: 'To see the mirror follow' };

/** Creates the actions of the console's demo page, such as "Retire 1 t and watch". */
export function createDemoActions({ connect, control, appId, sync }: DemoActionTools): readonly DemoAction[] {
  const openReservations: Awaited<ReturnType<typeof reserveOneTonne>>[] = [];

  /** Reserves one tonne from any warehouse. Returns the reservation and a function `retire` that retires the tonne. */
  async function reserveOneTonne(reader: Reader) {
    const { creditId, ...owner } = await findWarehouseCredit(reader);
    const client = (await connect()).organization(owner.installation_id, owner.organization_id);
    const { id } = await client.reserve({ creditId, amount: ONE_TONNE });
    const retire = () => client.finishReservation(id, 'retire', { retirementData: RETIREMENT_DATA });
    return { ...owner, id, retire };
  }

  return [
    {
      name: 'retire',
      label: 'Retire 1 t and watch',
      description:
        'A webhook announces it: a retirement appears, the warehouse falls by 1 t, and a certificate follows.',
      run: async reader => {
        await (await reserveOneTonne(reader)).retire();
        return `1 t was retired for ${RETIREMENT_DATA.beneficiaryName}.`;
      },
    },
    {
      name: 'reserve',
      label: 'Reserve 1 t',
      description: 'A ten-minute reservation appears. The tonne is not for sale until it expires.',
      run: async reader => {
        const reservation = await reserveOneTonne(reader);
        openReservations.push(reservation);
        /** The registry sends no webhook for a reservation. */
        await sync([reservation]);
        return `Reserved 1 t (reservation ${reservation.id}).`;
      },
    },
    {
      name: 'finish',
      label: 'Retire the reserved 1 t',
      description: 'The reserved tonne is retired.',
      run: async () => {
        const reservation = openReservations.pop();
        if (reservation === undefined) return 'Nothing is reserved. Reserve 1 t first.';
        await reservation.retire();
        return `Retired the reserved 1 t (reservation ${reservation.id}).`;
      },
    },
    {
      name: 'lose',
      label: 'Retire 1 t and lose its webhook',
      description:
        'No webhook reaches the mirror: the next scheduled read finds the change and counts it as drift.',
      run: async reader => {
        const reservation = await reserveOneTonne(reader);
        await control('PATCH', '/webhooks', { drop: 1 });
        await reservation.retire();
        return '1 t was retired, and its webhook was dropped.';
      },
    },
    {
      name: 'install',
      label: 'Let a new customer install the app',
      description:
        'A webhook announces it: an organization appears, and its lists are read for the first time.',
      run: async () => {
        const fullName = `Customer ${randomUUID().slice(0, NAME_LENGTH)}`;
        const created = await control('POST', '/organizations', {
          user: { email: `${randomUUID()}@customer.example` },
          organization: { fullName, type: 'marketParticipant' },
        });
        await control('POST', '/installations', {
          appId,
          organizationId: getValueAtPath(created, 'organization.id'),
        });
        return `${fullName} has installed the app.`;
      },
    },
  ];
}

/** A credit in a warehouse, and the installation through which its owner is reached. */
interface WarehouseCredit {
  readonly installation_id: string;
  readonly organization_id: string;
  readonly creditId: string;
}

/**
 * Searches the organizations with an active installation, in the order of their ids, for a warehouse that has credits. Returns the credit
 * with the lowest id in the first such warehouse, whether the credit is available or not. Throws if all these warehouses are empty.
 */
async function findWarehouseCredit(reader: Reader): Promise<WarehouseCredit> {
  for (const target of await readInstallationTargets(reader, null)) {
    const { organization_id, installation_id, state } = target;
    if (state !== 'active' || organization_id === null) continue;
    const creditId = await readLowestCreditId(reader, organization_id);
    if (creditId !== null) return { installation_id, organization_id, creditId };
  }
  throw new Error('no known warehouse has any credits');
}
