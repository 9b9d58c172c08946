export interface PowerCutResult {
  readonly cuts: number;
  readonly cutsThatLost: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly halfWritten: number;
}

export function canCutPower(): boolean;
export function cutPower(options: {
  readonly folder: string;
  readonly cuts: number;
  readonly connections: number;
  readonly answeredPerLife: number;
  readonly mutant?: '' | 'answer-first' | 'unflushed';
}): Promise<PowerCutResult>;
