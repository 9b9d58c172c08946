import { isId, isObject } from '../../../registry/model.js';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { choose } from '../../find/choose.js';
import { valueAt } from '../../paths.js';

/** What people call by name, and where its names stand in the list of all. */
export const NAMES = {
  app: ['name', 'nameId'],
  organization: ['fullName'],
  project: ['fullName', 'num'],
  installation: ['organization.fullName'],
} as const;

/** The id of what is named by its id or its name. */
export async function readName(control: ControlClient, what: keyof typeof NAMES, text: string) {
  const all = itemsOf(await control('GET', `/${what}s`), `${what}s`);
  const known = all
    .filter(item => valueAt(item, 'state') !== 'uninstalled' || valueAt(item, 'id') === text)
    .flatMap(item => NAMES[what].map(name => ({ id: valueAt(item, 'id'), name: valueAt(item, name) })))
    .flatMap(({ id, name }) => (isId(id) ? [{ id, name: typeof name === 'string' ? name : null }] : []));
  const advice = `See "carbon-mirror sandbox ${what}s list" for all of them.`;
  return choose(text, known, { what, where: 'in the sandbox', advice });
}

export function itemsOf(answer: unknown, list: string): readonly unknown[] {
  const items = isObject(answer) ? answer[list] : undefined;
  return Array.isArray(items) ? items : [];
}
