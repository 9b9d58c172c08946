import { afterAll } from 'vitest';

/** Each place that is mutated asks whether it lives, and by asking says that it was reached. */
const alive = Number(process.env.MUTANT);
const reached = new Set();
Object.assign(globalThis, { __mutant: number => reached.add(number) && number === alive });

// oxlint-disable-next-line no-empty-pattern
afterAll(({}, suite) => void Object.assign(suite.file.meta, { reached: [...reached] }));
