import { isObject } from '../registry/model.js';

type Members = Readonly<Record<string, unknown>>;

/** The value at a path such as `organization.fullName`. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
      value,
    );
}

/** An object made of values and their paths: `{ 'user.email': x }` gives `{ user: { email: x } }`. */
export function build(values: Members): Members {
  const built: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [first = '', ...rest] = path.split('.');
    if (rest.length === 0) {
      built[first] = value;
      continue;
    }
    const inner = built[first];
    built[first] = { ...(isObject(inner) ? inner : {}), ...build({ [rest.join('.')]: value }) };
  }
  return built;
}

/** Each value with its path, to look at; lists stay whole. */
export function flatten(value: Members, prefix = ''): Members {
  const entries = Object.entries(value).flatMap(([name, inner]) =>
    isObject(inner)
      ? Object.entries(flatten(inner, `${prefix}${name}.`))
      : [[`${prefix}${name}`, inner] as const],
  );
  return Object.fromEntries(entries);
}
