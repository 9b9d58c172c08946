export function findMutants(file: string): readonly { readonly key: string }[];
