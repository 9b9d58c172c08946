interface Figure {
  readonly bench: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly words: string;
  readonly holds: boolean;
}

export function writeFigures(figures: readonly Figure[], stamp: string, page?: URL): void;
