import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** The global fetch is nock's while this file runs, and nobody's answers are left for the next test. */
export function useNock(): void {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate();
  });
  afterEach(() => {
    nock.cleanAll();
    nock.enableNetConnect();
  });
  afterAll(() => nock.restore());
}
