import type { Project } from '../registry/model.js';
import { column, texts } from './columns.js';
import { by, type ItemEntry } from './entry.js';

/** Projects belong to nobody: all organizations share the rows, and the app's own token reads them. */
export const PROJECTS: ItemEntry<Project> = {
  table: 'projects',
  scope: null,
  every: 'day',
  key: [column('id', item => item.id)],
  columns: [
    ...texts<Project>(
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
  shown: {
    from: 'projects',
    columns: ['full_name', 'num', 'status', 'country_code', 'sector', 'type', 'id'],
    order: by('num asc', 'id asc'),
  },
};
