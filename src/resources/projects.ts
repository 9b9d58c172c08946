import type { Project } from '../registry/object-models.js';
import { createColumn, createTextColumns } from './mirror-columns.js';
import { type ItemEntry } from './entry.js';

/** Projects belong to no organization: all organizations share the rows, and the app reads them with its own token. */
export const PROJECTS: ItemEntry<Project> = {
  table: 'projects',
  scope: null,
  key: [createColumn('id', item => item.id)],
  columns: [
    ...createTextColumns<Project>(
      'num',
      'fullName',
      'shortDescription',
      'status',
      'registry',
      'countryCode',
      'sector',
      'methodology',
      'type',
      'startDate',
    ),
  ],
  hasDocument: true,
  permission: null,
  source: 'projects',
};
