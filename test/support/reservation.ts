import type { Reservation } from '../../src/registry/object-models.js';
import { NOON } from './inbox.js';
import { amount } from './mirror/rows.js';
import { MINUTE } from './mirror/open.js';

/** Creates a reservation of ten minutes that starts at noon. */
export function reservation(id: string, overrides: Partial<Reservation> = {}): Reservation {
  return {
    id,
    creditId: 'c-1',
    serialization: 'ICR-ISL-354-2-14-R-0-2021',
    type: 'exPost',
    amount: amount('1'),
    project: { id: 'project-1', fullName: 'Peat bog' },
    reserverId: null,
    reserverName: null,
    state: 'outstanding',
    isComplete: false,
    reservedToDate: new Date(NOON + 10 * MINUTE).toISOString(),
    createdAt: null,
    updatedAt: null,
    document: `{"hold":"${id}","as":${JSON.stringify(overrides.amount?.exact ?? null)}}`,
    ...overrides,
  };
}
