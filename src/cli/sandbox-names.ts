import { isObject, valueAt } from './paths.js';
import type { ControlClient } from '../sandbox/control-client.js';
import { isId } from '../registry/model.js';
import { CommandFault, EXIT } from './exit.js';

interface Named {
  readonly route: string;
  readonly list: string;
  readonly names: readonly string[];
}

/** What people call by name, and where the sandbox lists it. */
const NAMED: Readonly<Record<string, Named>> = {
  app: { route: '/apps', list: 'apps', names: ['name', 'nameId'] },
  organization: { route: '/organizations', list: 'organizations', names: ['fullName'] },
  project: { route: '/projects', list: 'projects', names: ['fullName', 'num'] },
  installation: { route: '/installations', list: 'installations', names: ['organization.fullName'] },
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of what is named by its id or its name. */
export async function readName(call: ControlClient, kind: string, text: string): Promise<string> {
  const named = NAMED[kind];
  if (named === undefined || UUID.test(text)) return text;
  const wanted = text.toLowerCase();
  const found = itemsOf(await call('GET', named.route), named.list).filter(
    item =>
      valueAt(item, 'state') !== 'uninstalled' &&
      named.names.some(name => String(valueAt(item, name)).toLowerCase() === wanted),
  );
  const id = found.length === 1 ? valueAt(found[0], 'id') : undefined;
  if (isId(id)) return id;
  throw new CommandFault(
    EXIT.checkFailed,
    `${found.length === 0 ? 'No' : 'More than one'} ${kind} is called "${text}".`,
    `See "carbon-mirror sandbox ${kind}s list" for the ids.`,
  );
}

export function itemsOf(answer: unknown, list: string): readonly unknown[] {
  const items = isObject(answer) ? answer[list] : undefined;
  return Array.isArray(items) ? items : [];
}
