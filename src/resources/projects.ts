import type { Project } from '../registry/model.js';
import { column, text } from './columns.js';
import type { ItemEntry } from './entry.js';

/** Projects belong to nobody: all organizations share the rows, and the app's own token reads them. */
export const PROJECTS: ItemEntry<Project> = {
  table: 'projects',
  scope: null,
  every: 'day',
  key: [column('id', item => item.id)],
  columns: [
    column('num', item => text(item.num)),
    column('full_name', item => text(item.fullName)),
    column('short_description', item => text(item.shortDescription)),
    column('status', item => text(item.status)),
    column('registry', item => text(item.registry)),
    column('country_code', item => text(item.countryCode)),
    column('sector', item => text(item.sector)),
    column('methodology', item => text(item.methodology)),
    column('type', item => text(item.type)),
    column('start_date', item => text(item.startDate)),
  ],
  hasDocument: true,
  permission: null,
  shown: {
    from: 'projects',
    columns: ['full_name', 'num', 'status', 'country_code', 'sector', 'type', 'id'],
    order: [
      ['num', 'asc'],
      ['id', 'asc'],
    ],
  },
};
