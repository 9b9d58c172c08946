/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Programs that read settings: the four processes, the sandbox, and `live`, the commands that call the registry directly. */
export const ROLES = ['receive', 'work', 'live', 'sandbox', 'console', 'api'] as const;
export type Role = (typeof ROLES)[number];

export interface Setting {
  /** The name of the environment variable. */
  readonly name: string;
  /** The property of the settings object that holds the parsed value; null if other code reads the variable. */
  readonly property: string | null;
  readonly roles: readonly Role[];
  /** The default as documentation shows it; null if there is none. */
  readonly default: string | null;
  /** Returns the text that is parsed if a role's variable is not set. */
  readonly getDefault: (role: Role) => string | undefined;
  readonly description: string;
  readonly secret: boolean;
  readonly parse: SettingParser<unknown>;
}

/** Parses the text of a setting. Returns the value, or what was expected instead. */
export type SettingParser<T> = (
  text: string | undefined,
) => Promise<{ readonly value: T } | { readonly expected: string }>;

/** A default: one text for all roles, or a text per role with how documentation shows it. */
type DefaultValue =
  | string
  | null
  | { readonly shown: string; readonly byRole: Partial<Record<Role, string>> };

interface SettingDefinition<Property extends string, Roles extends readonly Role[], Value> {
  readonly name: string;
  readonly property: Property;
  readonly roles: Roles;
  readonly default?: DefaultValue;
  readonly description: string;
  /** True if the value must never be shown. */
  readonly secret?: boolean;
  readonly parse: SettingParser<Value>;
}

/** Defines a setting that one or more roles read. */
export function defineSetting<const Property extends string, const Roles extends readonly Role[], Value>(
  definition: SettingDefinition<Property, Roles, Value>,
) {
  const { name, property, roles, default: value = null, description, secret = false, parse } = definition;
  if (typeof value === 'string' || value === null) {
    const getDefault = () => value ?? undefined;
    return { name, property, roles, default: value, getDefault, description, secret, parse };
  }
  const getDefault = (role: Role) => value.byRole[role];
  return { name, property, roles, default: value.shown, getDefault, description, secret, parse };
}

/** Defines a setting that is parsed elsewhere, such as MIRROR_DATABASE_URL. */
export function defineExternalSetting({
  name,
  default: defaultText = null,
  description,
  secret = false,
}: {
  readonly name: string;
  readonly default?: string | null;
  readonly description: string;
  readonly secret?: boolean;
}) {
  const parse: SettingParser<string | null> = async text => ({ value: text ?? null });
  const getDefault = () => undefined;
  return { name, property: null, roles: [], default: defaultText, getDefault, description, secret, parse };
}
