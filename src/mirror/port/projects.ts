import type { WriteResult } from './sync.js';
import type { SqlValue } from '../../resources/sql-values.js';

/** The registry's answer to the request for one project: its row, or the error. */
export type ProjectAnswer =
  | {
      readonly id: string;
      readonly requestedAt: number;
      readonly observedAt: string;
      readonly cells: readonly SqlValue[];
      readonly document: string;
    }
  | { readonly id: string; readonly requestedAt: number; readonly error: string };

/** The effect of a write on a project. `older`: nothing was written, because a newer answer is already stored. */
export type ProjectWriteResult = WriteResult | 'older' | 'unavailable';
