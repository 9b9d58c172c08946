import { isObject } from '../text/checks.js';

/** Returns the nested value at a path such as `organization.fullName`, or undefined. */
export function getValueAtPath(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
      value,
    );
}
