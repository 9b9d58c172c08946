import type { Command } from 'commander';
import { LISTS } from '../../resources/lists.js';
import type { Io } from '../io.js';
import { defineGroup, defineList } from './lists.js';
import { liveInventory } from './live.js';

export function define(program: Command, io: Io): void {
  const group = defineGroup(program, 'inventory', 'Credits in the main inventories', [
    'carbon-mirror inventory list',
    'carbon-mirror inventory list --organization ID --limit 0 --csv',
  ]);
  const resource = { noun: 'credits in the main inventories', list: LISTS.inventory, live: liveInventory };
  defineList(group, io, resource);
}
