export function rootWith(roomBytes: number): string;
