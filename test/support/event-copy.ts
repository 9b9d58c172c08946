import type { ReceivedEvent } from './event-receiver.js';

type Cells = Readonly<Record<string, unknown>>;
interface ChangeData {
  readonly organization_id: string;
  readonly resource: string;
  readonly row: Cells | null;
  readonly previous: Cells | null;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  warehouse: ['credit_id', 'inventory_id'],
  inventory: ['credit_id', 'inventory_id'],
  certificates: ['retirement_id'],
};

/** Builds a copy of the mirror from events alone, as a subscriber would: by resource, organization and key. */
export function buildCopy(events: readonly ReceivedEvent[]): Map<string, Cells> {
  const copy = new Map<string, Cells>();
  const seen = new Set<string>();
  for (const { id, data, type } of events) {
    if (seen.has(id) || !('resource' in data) || type.startsWith('freshness')) continue;
    seen.add(id);
    const change: ChangeData = JSON.parse(JSON.stringify(data));
    const row = change.row ?? change.previous ?? {};
    const names = KEYS[change.resource] ?? ['id'];
    const key = JSON.stringify([change.resource, change.organization_id, ...names.map(name => row[name])]);
    if (change.row === null) copy.delete(key);
    else copy.set(key, change.row);
  }
  return copy;
}

/** Throws unless each event has one body, and the changes of each organization arrive in the order of their numbers. */
export function findDeliveryFaults(events: readonly ReceivedEvent[]): string[] {
  const faults: string[] = [];
  const bodies = new Map<string, string>();
  const newest = new Map<string, number>();
  for (const { id, body, data, isErased } of events) {
    const known = bodies.get(id);
    if (known !== undefined && known !== body && !isErased) faults.push(`${id} has two bodies`);
    bodies.set(id, body);
    if (known !== undefined || typeof data['number'] !== 'number') continue;
    const organization = `${id.split('_')[0]} ${String(data['organization_id'])}`;
    if (data['number'] < (newest.get(organization) ?? 0)) faults.push(`${id} arrived late`);
    newest.set(organization, data['number']);
  }
  return faults;
}
