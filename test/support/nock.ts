import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** Lets nock answer fetch in the tests of this file. Unused answers are removed after each test. */
export function useNockInThisFile(): void {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate();
  });
  afterEach(() => {
    nock.cleanAll();
    nock.enableNetConnect();
  });
  afterAll(() => nock.restore());
}
