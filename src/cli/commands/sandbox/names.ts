import { isObject, isId } from '../../../registry/model.js';
import { valueAt } from '../../paths.js';
import type { ControlClient } from '../../../sandbox/control/client.js';
import { choose, type Named } from '../../named/named.js';

interface SandboxNames {
  readonly route: string;
  readonly list: string;
  readonly names: readonly string[];
}

/** What people call by name, and where the sandbox lists it. */
const NAMED: Readonly<Record<string, SandboxNames>> = {
  app: { route: '/apps', list: 'apps', names: ['name', 'nameId'] },
  organization: { route: '/organizations', list: 'organizations', names: ['fullName'] },
  project: { route: '/projects', list: 'projects', names: ['fullName', 'num'] },
  installation: { route: '/installations', list: 'installations', names: ['organization.fullName'] },
};

/** The id of what is named by its id or its name. */
export async function readName(call: ControlClient, kind: string, text: string): Promise<string> {
  const named = NAMED[kind];
  if (named === undefined) return text;
  const items = itemsOf(await call('GET', named.route), named.list);
  const known = items.filter(
    item => valueAt(item, 'state') !== 'uninstalled' || valueAt(item, 'id') === text,
  );
  return choose(
    text,
    known.flatMap(item => namesOf(item, named)),
    {
      what: kind,
      where: 'in the sandbox',
      advice: `See "carbon-mirror sandbox ${kind}s list" for all of them.`,
    },
  );
}

function namesOf(item: unknown, { names }: SandboxNames): Named[] {
  const id = valueAt(item, 'id');
  if (!isId(id)) return [];
  const said = names.map(name => valueAt(item, name)).filter(isSaid);
  return said.length === 0 ? [{ id, name: null }] : said.map(name => ({ id, name: String(name) }));
}

function isSaid(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

export function itemsOf(answer: unknown, list: string): readonly unknown[] {
  const items = isObject(answer) ? answer[list] : undefined;
  return Array.isArray(items) ? items : [];
}
