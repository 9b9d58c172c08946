import { randomUUID } from 'node:crypto';
import type { RegistryClient } from '../../../registry/clients.js';
import type { DemoAction } from '../../../console/demo/demo.js';
import type { ConsoleActions } from '../../../console/actions/actions.js';
import type { Reader } from '../../../store/contract/reader.js';
import { readFirstCredit, readTargets } from '../../../query/at-registry.js';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { getValueAtPath } from '../../value-at-path.js';

export interface Stage {
  /** The registry, as the app of the mirror. */
  readonly connect: () => Promise<RegistryClient>;
  /** What a sandbox can and a registry cannot. */
  readonly control: ControlClient;
  readonly appId: string;
  readonly sync: ConsoleActions['sync'];
}

const ONE_TONNE = '1';
const NAME_LENGTH = 8;
const FOR = { beneficiaryName: 'A visitor of the demo', reason: 'To see the mirror follow' };

/** What the page Demo offers. The registry sends no webhook for a reservation: then the mirror is asked to read. */
export function createDemoActions({ connect, control, appId, sync }: Stage): readonly DemoAction[] {
  const open: Awaited<ReturnType<typeof reserve>>[] = [];

  async function reserve(reader: Reader) {
    const { creditId, ...whose } = await findCredit(reader);
    const owner = (await connect()).organization(whose.installation_id, whose.organization_id);
    const { id } = await owner.reserve({ creditId, amount: ONE_TONNE });
    return { ...whose, id, finish: () => owner.finishReservation(id, 'retire', { retirementData: FOR }) };
  }

  return [
    {
      name: 'retire',
      label: 'Retire 1 t and watch',
      description:
        'A webhook announces it: a retirement appears, the warehouse falls by 1 t, and a certificate follows.',
      run: async reader => {
        await (await reserve(reader)).finish();
        return `1 t was retired for ${FOR.beneficiaryName}.`;
      },
    },
    {
      name: 'reserve',
      label: 'Reserve 1 t',
      description: 'A ten-minute reservation appears; until then the tonne is not for sale.',
      run: async reader => {
        const reservation = await reserve(reader);
        open.push(reservation);
        await sync([reservation]);
        return `Reserved 1 t (reservation ${reservation.id}).`;
      },
    },
    {
      name: 'finish',
      label: 'Retire the reserved 1 t',
      description: 'The reserved tonne is retired.',
      run: async () => {
        const reservation = open.pop();
        if (reservation === undefined) return 'Nothing is reserved. Reserve 1 t first.';
        await reservation.finish();
        return `Retired the reserved 1 t (reservation ${reservation.id}).`;
      },
    },
    {
      name: 'lose',
      label: 'Retire 1 t and lose its webhook',
      description:
        'No webhook reaches the mirror: the next scheduled read finds the change and counts it as drift.',
      run: async reader => {
        const reservation = await reserve(reader);
        await control('PATCH', '/webhooks', { drop: 1 });
        await reservation.finish();
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
        const made = await control('POST', '/organizations', {
          user: { email: `${randomUUID()}@customer.example` },
          organization: { fullName, type: 'marketParticipant' },
        });
        await control('POST', '/installations', {
          appId,
          organizationId: getValueAtPath(made, 'organization.id'),
        });
        return `${fullName} has installed the app.`;
      },
    },
  ];
}

async function findCredit(reader: Reader) {
  for (const target of await readTargets(reader, null)) {
    const { organization_id, installation_id, state } = target;
    if (state !== 'active' || organization_id === null) continue;
    const creditId = await readFirstCredit(reader, organization_id);
    if (creditId !== null) return { installation_id, organization_id, creditId };
  }
  throw new Error('no known warehouse has any credits');
}
