/** Parses the objects of the registry by the models in `object-models.ts`: each field by its type, under any of its names. */
import { parseAmount } from './amount.js';
import {
  createBadAnswerError,
  getBoolean,
  hashObjectText,
  getInstant,
  getObjectMembers,
  getObjectField,
  type FieldAliases,
  type ObjectParser,
  getOptionalId,
  getOptionalPrintable,
  getOptionalText,
  getRequiredId,
  getRequiredPrintable,
  type SourceObject,
  toText,
  parseObject,
} from './json-object.js';
import {
  ADDRESS,
  type Address,
  CREDIT,
  INSTALLATION,
  INVENTORY_REQUEST,
  type FieldType,
  type FieldValue,
  MEMBER,
  type Member,
  type ObjectModel,
  ORGANIZATION,
  PROJECT,
  type ProjectReference,
  type ParsedObject,
  RESERVATION,
  RETIREMENT,
  TRANSACTION,
  USER,
} from '../object-models.js';
import { isId } from '../../text/checks.js';
import { RegistryError } from '../errors.js';
import { parsePermissions } from './permissions.js';
import { type AccessToken, isCredential } from '../http/credential.js';

/** Reads one field of a JSON object. */
type FieldParser<T> = (object: SourceObject) => T;

/** For each field type, creates the parser of a field with these names. */
const FIELD_PARSERS: { readonly [T in FieldType]: (aliases: FieldAliases) => FieldParser<FieldValue<T>> } = {
  id: aliases => object => getRequiredId(object, aliases),
  'id?': aliases => object => getOptionalId(object, aliases),
  'id or hash':
    ([name]) =>
    object =>
      nullUnlessId(object.members[name]) ?? hashObjectText(object.text),
  printable: aliases => object => getRequiredPrintable(object, aliases),
  'printable?':
    ([name]) =>
    object =>
      getOptionalPrintable(object, name),
  owner: () => object =>
    getOptionalPrintable(object, 'organizationId') ??
    nullUnlessId(getObjectMembers(object, 'organizationOwner')?.['id']),
  text: parseText,
  action: parseText,
  'credit type': parseText,
  'reservation state': parseText,
  'request state': parseText,
  'transaction status': parseText,
  'organization type': parseText,
  flag:
    ([name]) =>
    object =>
      getBoolean(object, name),
  instant:
    ([name]) =>
    object =>
      getInstant(object, name),
  amount:
    ([name]) =>
    object =>
      parseAmount(object.text, object.members[name], name),
  'amount?':
    ([name]) =>
    object =>
      (object.members[name] ?? null) === null ? null : parseAmount(object.text, object.members[name], name),
  project: () => parseProjectReference,
  permissions: () => parsePermissions,
  organization:
    ([name]) =>
    object => {
      const organization = getObjectField(object, name);
      return organization && parseOrganization(organization);
    },
};

/** Creates the parser of a text. A word is kept as it was sent, even if it is unknown. */
function parseText(aliases: FieldAliases): FieldParser<string | null> {
  return object => getOptionalText(object, aliases);
}

/** The type of a field, and all names under which it may be sent. */
interface ResolvedField {
  readonly type: FieldType;
  readonly aliases: FieldAliases;
}

/** Returns a field's type and its possible JSON names, which default to the name of the field. */
function resolveField(fieldName: string, definition: ObjectModel[string]): ResolvedField {
  if (typeof definition === 'string') return { type: definition, aliases: [fieldName] };
  const [type, firstAlias = fieldName, ...otherAliases] = definition;
  return { type, aliases: [firstAlias, ...otherAliases] };
}

/** Creates a function that returns the primary key of an object, or null if a key field is unreadable. */
export function createKeyParser(
  model: ObjectModel,
  keyFields: readonly string[],
): (object: SourceObject) => string[] | null {
  const fieldParsers = keyFields.map(fieldName => {
    const { type, aliases } = resolveField(fieldName, model[fieldName] ?? 'id');
    // An object whose id would be a hash may have been stored under a different id.
    return FIELD_PARSERS[type === 'id or hash' ? 'id' : type](aliases);
  });
  return object => {
    try {
      return fieldParsers.map(parseField => toText(parseField(object)) ?? '');
    } catch (error) {
      if (error instanceof RegistryError) return null;
      throw error;
    }
  };
}

/** Creates a function that parses the objects of a model. Its fields are resolved once, not for every object. */
function createObjectParser<T extends ObjectModel>(model: T): ObjectParser<ParsedObject<T>>;
/** Creates a function that parses JSON objects. The model gives the type and the JSON names of each field. */
function createObjectParser(model: ObjectModel): ObjectParser<object> {
  const fields = Object.entries(model).map(([name, definition]) => {
    const { type, aliases } = resolveField(name, definition);
    return { name, parse: FIELD_PARSERS[type](aliases) };
  });
  const emptyObject = Object.fromEntries(Object.keys(model).map(name => [name, null]));
  return object => {
    // Copying an object with all fields gives every result the same hidden class.
    const parsed: Record<string, unknown> = { ...emptyObject };
    for (const field of fields) parsed[field.name] = field.parse(object);
    parsed['document'] = object.text;
    return parsed;
  };
}

export const parseOrganization = createObjectParser(ORGANIZATION);
export const parseInstallation = createObjectParser(INSTALLATION);
export const parseUser = createObjectParser(USER);
export const parseCredit = createObjectParser(CREDIT);
export const parseReservation = createObjectParser(RESERVATION);
export const parseInventoryRequest = createObjectParser(INVENTORY_REQUEST);
export const parseRetirement = createObjectParser(RETIREMENT);
export const parseTransaction = createObjectParser(TRANSACTION);
export const parseProject = createObjectParser(PROJECT);
const parseAddressFields = createObjectParser(ADDRESS);
const parseMemberFields = createObjectParser(MEMBER);

/** Parses a public EVM address of an organization from the registry's JSON. Throws `bad_answer` if the address is blank. */
export function parseAddress(object: SourceObject): Address {
  const address = parseAddressFields(object);
  if (isBlank(address.address)) throw createBadAnswerError(`${object.label}.address`, 'an address', 'none');
  return address;
}

/** Parses a member of an organization. Throws if the member has neither a name nor an email address. */
export function parseMember(object: SourceObject): Member {
  const member = parseMemberFields(object);
  if (isBlank(member.fullName) && isBlank(member.email))
    throw createBadAnswerError(object.label, 'a name or an email address', 'neither');
  return member;
}

function isBlank(text: string | null): boolean {
  return text === null || text.trim() === '';
}

/** Returns the value if it is an id, otherwise null. */
function nullUnlessId(value: unknown): string | null {
  return isId(value) ? value : null;
}

const PROJECT_ID: FieldAliases = ['id', '_id', 'projectId'];
const PROJECT_NAME: FieldAliases = ['fullName', 'name'];
const FLAT_PROJECT_ID: FieldAliases = ['projectId'];
const FLAT_PROJECT_NAME: FieldAliases = ['projectName'];

/**
 * Parses a project's id and name from `project`, or from `projectId` and `projectName`. Returns null if neither `project` nor
 * `projectId` is present.
 */
function parseProjectReference(object: SourceObject): ProjectReference | null {
  const project = getObjectMembers(object, 'project');
  if (project === null) {
    const id = getOptionalId(object, FLAT_PROJECT_ID);
    return id === null ? null : { id, fullName: getOptionalText(object, FLAT_PROJECT_NAME) };
  }
  const reference = { label: `${object.label}.project`, text: '', members: project };
  return {
    id: getRequiredId(reference, PROJECT_ID),
    fullName: getOptionalText(reference, PROJECT_NAME),
  };
}

/** Parses a response that contains a new access token. Error messages never quote the token, because it may be valid. */
export function parseAccessToken<T extends string>(body: string): AccessToken<T> {
  const object = parseObject(body, 'token');
  const { token } = object.members;
  if (typeof token !== 'string' || !isCredential<T>(token))
    throw createBadAnswerError('token.token', 'printable text', 'something else');
  return {
    token,
    expiresAt: getInstant(object, 'expiresAt') ?? '',
    permissions: parsePermissions(object),
    installationId: getOptionalId(object, ['installationId']),
    organizationId: getOptionalId(object, ['organizationId']),
  };
}
