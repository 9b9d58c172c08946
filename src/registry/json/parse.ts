import { readAmount } from './amount.js';
import {
  badAnswer,
  flag,
  hashOf,
  instant,
  member,
  memberSource,
  type Names,
  optionalId,
  optionalPrintable,
  optionalText,
  requiredId,
  requiredPrintable,
  type Source,
} from './fields.js';
import {
  ADDRESS,
  type Address,
  CREDIT,
  INSTALLATION,
  INVENTORY_REQUEST,
  isId,
  type Kind,
  type KindOf,
  MEMBER,
  type Member,
  type Members,
  ORGANIZATION,
  PROJECT,
  type ProjectReference,
  type Read,
  RESERVATION,
  RETIREMENT,
  TRANSACTION,
  USER,
} from '../model.js';
import { RegistryError } from '../errors.js';
import { readPermissions } from './permissions.js';

type Reader<T> = (source: Source) => T;

const READERS: { readonly [K in Kind]: (names: Names) => Reader<KindOf<K>> } = {
  id: names => source => requiredId(source, names),
  'id?': names => source => optionalId(source, names),
  'id or hash':
    ([name]) =>
    source =>
      looseId(source.members[name]) ?? hashOf(source.text),
  printable: names => source => requiredPrintable(source, names),
  'printable?':
    ([name]) =>
    source =>
      optionalPrintable(source, name),
  owner: () => source =>
    optionalPrintable(source, 'organizationId') ?? looseId(member(source, 'organizationOwner')?.['id']),
  text: names => source => optionalText(source, names),
  flag:
    ([name]) =>
    source =>
      flag(source, name),
  instant:
    ([name]) =>
    source =>
      instant(source, name),
  amount:
    ([name]) =>
    source =>
      readAmount(source.text, source.members[name], name),
  'amount?':
    ([name]) =>
    source =>
      (source.members[name] ?? null) === null ? null : readAmount(source.text, source.members[name], name),
  project: () => readProject,
  permissions: () => readPermissions,
  organization:
    ([name]) =>
    source => {
      const organization = memberSource(source, name);
      return organization && parseOrganization(organization);
    },
};

/** Kinds that a member may have by which a row is known. */
type KeyKind = 'id' | 'id or hash' | 'printable' | 'printable?';

/**
 * Reads what identifies a row and nothing else, by the names of its members. Null where that cannot be read, or where the
 * registry sends no id: a hash of an unreadable object is not the hash under which the object was known.
 */
export function keyReader<Name extends string>(
  members: Readonly<Record<Name, KeyKind | readonly [KeyKind, ...string[]]>>,
  names: readonly Name[],
): (row: Source) => string[] | null {
  const readers = names.map(name => {
    const of = members[name];
    const [kind, first = name, ...others] = typeof of === 'string' ? [of] : of;
    return READERS[kind === 'id or hash' ? 'id' : kind]([first, ...others]);
  });
  return row => {
    try {
      return readers.map(read => read(row) ?? '');
    } catch (error) {
      if (error instanceof RegistryError) return null;
      throw error;
    }
  };
}

/** The members in their order: made out once, for as many objects as there are. */
function reading<T extends Members>(members: T): Reader<Read<T>>;
function reading(members: Members): Reader<object> {
  const steps = Object.entries(members).map(([name, of]) => {
    const [kind, first = name, ...others] = typeof of === 'string' ? [of] : of;
    return { name, read: READERS[kind]([first, ...others]) };
  });
  const empty = Object.fromEntries(Object.keys(members).map(name => [name, null]));
  return source => {
    const read: Record<string, unknown> = { ...empty };
    for (const step of steps) read[step.name] = step.read(source);
    read['document'] = source.text;
    return read;
  };
}

export const parseOrganization = reading(ORGANIZATION);
export const parseInstallation = reading(INSTALLATION);
export const parseUser = reading(USER);
export const parseCredit = reading(CREDIT);
export const parseReservation = reading(RESERVATION);
export const parseInventoryRequest = reading(INVENTORY_REQUEST);
export const parseRetirement = reading(RETIREMENT);
export const parseTransaction = reading(TRANSACTION);
export const parseProject = reading(PROJECT);
const readAddress = reading(ADDRESS);
const readMember = reading(MEMBER);

export function parseAddress(source: Source): Address {
  const address = readAddress(source);
  if (isBlank(address.address)) throw badAnswer(`${source.what}.address`, 'an address', 'none');
  return address;
}

export function parseMember(source: Source): Member {
  const found = readMember(source);
  if (isBlank(found.fullName) && isBlank(found.email))
    throw badAnswer(source.what, 'a name or an address', 'neither');
  return found;
}

function isBlank(text: string | null): boolean {
  return text === null || text.trim() === '';
}

/** An id in a place where the registry has been seen to send other things too. */
function looseId(value: unknown): string | null {
  return isId(value) ? value : null;
}

const PROJECT_ID: Names = ['id', '_id', 'projectId'];
const PROJECT_NAME: Names = ['fullName', 'name'];
const FLAT_ID: Names = ['projectId'];
const FLAT_NAME: Names = ['projectName'];

/** As an object of its own, or as flat names. */
function readProject(source: Source): ProjectReference | null {
  const project = member(source, 'project');
  if (project === null) {
    const id = optionalId(source, FLAT_ID);
    return id === null ? null : { id, fullName: optionalText(source, FLAT_NAME) };
  }
  const reference = { what: `${source.what}.project`, text: '', members: project };
  return {
    id: requiredId(reference, PROJECT_ID),
    fullName: optionalText(reference, PROJECT_NAME),
  };
}
