import { isObject } from '../registry/model.js';

/** Returns the value at a path such as `organization.fullName`; undefined if there is none. */
export function getValueAtPath(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
      value,
    );
}
