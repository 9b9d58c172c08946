/** As the system has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Who reads settings: the processes, what asks the registry live, and the sandbox. */
export const ROLES = ['receive', 'work', 'live', 'sandbox', 'console'] as const;
export type Role = (typeof ROLES)[number];

export interface Setting {
  readonly name: string;
  /** Null where another file reads it. */
  readonly property: string | null;
  readonly roles: readonly Role[];
  readonly default: string | null;
  /** What is read where it is not set. */
  readonly of: (role: Role) => string | undefined;
  readonly what: string;
  readonly secret: boolean;
  readonly read: SettingParser<unknown>;
}

/** What the text of a setting says, or what was expected instead. */
export type SettingParser<T> = (
  given: string | undefined,
) => Promise<{ readonly value: T } | { readonly expected: string }>;

type DefaultValue = string | null | { readonly shown: string; readonly of: Partial<Record<Role, string>> };

export function defineSetting<Name extends string, const Roles extends readonly Role[], Value>(
  name: string,
  property: Name,
  roles: Roles,
  standard: DefaultValue,
  what: string,
  read: SettingParser<Value>,
) {
  const told = typeof standard === 'object' && standard !== null;
  const of = (role: Role) => (told ? standard.of[role] : (standard ?? undefined));
  return { name, property, roles, default: told ? standard.shown : standard, of, what, secret: false, read };
}

/** Without a default. */
export function defineSecretSetting<Name extends string, const Roles extends readonly Role[], Value>(
  name: string,
  property: Name,
  roles: Roles,
  what: string,
  read: SettingParser<Value>,
) {
  return { ...defineSetting(name, property, roles, null, what, read), secret: true };
}

/** Read by another file, for whoever keeps or asks there. */
export function defineExternalSetting(name: string, standard: string | null, what: string, isSecret = false) {
  const read: SettingParser<string | null> = async given => ({ value: given ?? null });
  const of = () => undefined;
  return { name, property: null, roles: [], default: standard, of, what, secret: isSecret, read };
}
