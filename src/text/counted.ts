import { withThousands } from './thousands.js';

/** `1 job`, `2 jobs`. */
export function counted(count: number, one: string, many = manyOf(one)): string {
  return `${withThousands(count)} ${count === 1 ? one : many}`;
}

export function manyOf(one: string): string {
  return one.endsWith('y') ? `${one.slice(0, -1)}ies` : one.endsWith('s') ? `${one}es` : `${one}s`;
}
