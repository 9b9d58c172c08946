import type { Project } from '../registry/model.js';
import { column, textColumns } from './columns.js';
import { sortBy, type ItemEntry } from './entry.js';

/** Projects belong to nobody: all organizations share the rows, and the app's own token reads them. */
export const PROJECTS: ItemEntry<Project> = {
  table: 'projects',
  scope: null,
  readInterval: 'day',
  key: [column('id', item => item.id)],
  columns: [
    ...textColumns<Project>(
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
  display: {
    from: 'projects',
    columns: ['full_name', 'num', 'status', 'country_code', 'sector', 'type', 'id'],
    order: sortBy('num asc', 'id asc'),
  },
};
