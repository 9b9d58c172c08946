interface Figure {
  readonly bench: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly words: string;
}

export function writeFigures(figures: readonly Figure[], stamp: string, page?: URL): void;
