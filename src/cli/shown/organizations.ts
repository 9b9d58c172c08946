import type { Command } from 'commander';
import { LISTS } from '../../resources/lists.js';
import type { Io } from '../io.js';
import { defineGroup, defineList, defineShow } from './lists.js';
import { defineCreate } from './organizations-create.js';
import { organizationIn } from '../named/in-mirror.js';
import { liveOrganizations, liveOrganization } from './live.js';

export function define(program: Command, io: Io): void {
  const group = defineGroup(
    program,
    'organizations',
    'The organizations that this app is or was installed on',
    ['carbon-mirror organizations list', 'carbon-mirror organizations show ID --json'],
  );
  const resource = {
    noun: 'organizations',
    list: LISTS.organization,
    live: liveOrganizations,
    liveOne: liveOrganization,
    find: organizationIn,
  };
  defineList(group, io, resource);
  defineShow(group, io, resource);
  defineCreate(group, io);
}
