import type { Command } from 'commander';
import { LISTS } from '../../resources/lists.js';
import type { Io } from '../io.js';
import { defineGroup, defineList } from './lists.js';
import { liveWarehouse } from './live.js';

export function define(program: Command, io: Io): void {
  const group = defineGroup(program, 'warehouse', 'Credits that apps may reserve', [
    'carbon-mirror warehouse list',
    'carbon-mirror warehouse list --organization ID --live --csv',
  ]);
  const resource = { noun: 'credits in the warehouses', list: LISTS.warehouse, live: liveWarehouse };
  defineList(group, io, resource);
}
