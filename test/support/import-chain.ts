import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

export type Imports = ReadonlyMap<string, readonly string[]>;

/** Each file and those that it names in its import and export statements, types among them. */
export function readImports(root: string): Imports {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'));
  const known = new Set(files);
  return new Map(
    files.map(file => {
      const { body } = parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' });
      const named = body.flatMap(statement => {
        const from = 'source' in statement ? statement.source?.value : undefined;
        return from === undefined ? [] : [posix.join(posix.dirname(file), from.replace(/\.js$/, '.ts'))];
      });
      return [file, named.filter(target => known.has(target))];
    }),
  );
}

/** The longest way from a file to one that imports nothing of ours. What is imported only when it is needed begins anew. */
export function longestChain(imports: Imports): readonly string[] {
  const known = new Map<string, readonly string[]>();
  const from = (file: string): readonly string[] => {
    const found = known.get(file);
    if (found !== undefined) return found;
    const chain = [file, ...longest((imports.get(file) ?? []).map(from))];
    known.set(file, chain);
    return chain;
  };
  return longest([...imports.keys()].map(from));
}

function longest(chains: readonly (readonly string[])[]): readonly string[] {
  return chains.reduce((most, chain) => (chain.length > most.length ? chain : most), []);
}
