import type { Command } from 'commander';
import { INSTALLATIONS } from '../../resources/installations.js';
import type { Io } from '../io.js';
import { defineGroup, defineList, defineShow } from './lists.js';
import { installationIn } from '../named/in-mirror.js';
import { liveInstallations, liveInstallation } from './live.js';

export function define(program: Command, io: Io): void {
  const group = defineGroup(program, 'installations', 'The links between this app and organizations', [
    'carbon-mirror installations list',
    'carbon-mirror installations show ID --live',
  ]);
  const resource = {
    noun: 'installations',
    list: INSTALLATIONS,
    live: liveInstallations,
    liveOne: liveInstallation,
    find: installationIn,
  };
  defineList(group, io, resource);
  defineShow(group, io, resource);
}
