import type { Command } from 'commander';
import { LISTS } from '../../resources/lists.js';
import type { Io } from '../io.js';
import { defineGroup, defineList, defineShow } from './lists.js';
import { liveRetirements, liveRetirement } from './live.js';

export function define(program: Command, io: Io): void {
  const group = defineGroup(program, 'retirements', 'Credits that were retired, and for whom', [
    'carbon-mirror retirements list --limit 20',
    'carbon-mirror retirements show ID',
  ]);
  const resource = {
    noun: 'retirements',
    list: LISTS.retirements,
    live: liveRetirements,
    liveOne: liveRetirement,
  };
  defineList(group, io, resource);
  defineShow(group, io, resource);
}
