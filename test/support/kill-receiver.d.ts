export interface KillOptions {
  readonly folder: string;
  readonly kills: number;
  readonly connections: number;
  readonly answeredPerLife: number;
  readonly mutant?: '' | 'answer-first' | 'unflushed';
}

export interface KillResult {
  readonly kills: number;
  readonly killsUnderLoad: number;
  readonly acknowledged: number;
  readonly stored: number;
  readonly lost: number;
  readonly halfWritten: number;
}

export function killReceiver(options: KillOptions): Promise<KillResult>;
