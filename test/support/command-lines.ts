import type { Command } from 'commander';

/** Lists the command lines of a document, in its code blocks and in its sentences. */
export function listCommandLines(markdown: string): string[] {
  const fromCodeBlocks = Array.from(markdown.matchAll(/^```\w*\n([^]*?)^```$/gm), ([, code = '']) => code);
  const outside = markdown.replaceAll(/^```\w*\n[^]*?^```$/gm, '');
  const fromSentences = Array.from(outside.matchAll(/`([^`]+)`/g), ([, code = '']) =>
    code.replaceAll('\n', ' '),
  );
  return [...fromCodeBlocks.flatMap(block => block.split('\n')), ...fromSentences]
    .map(line => /^(?:\$ )?(?:npx )?(?:carbon-mirror|node dist\/main\.js) (.+)$/.exec(line.trim())?.[1])
    .filter(line => line !== undefined);
}

/** Splits a command line into words, up to a comment, pipe or redirection. Quotes keep words together. */
export function splitWords(line: string): string[] {
  const words = Array.from(
    line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const end = words.findIndex(word => ['#', '>', '|', '&', '&&', '<'].includes(word));
  return end === -1 ? words : words.slice(0, end);
}

const GLOBAL_OPTIONS = ['--help', '--version', '--env-file'];

/** Returns the first option or subcommand that the program does not know; null if it knows all of them. */
export function findUnknownPart(program: Command, line: string): string | null {
  let command = program;
  const words = splitWords(line);
  if (words[0]?.startsWith('<')) return null;
  for (const [index, word] of words.entries()) {
    const known = command.options.map(({ long }) => long);
    if (word.startsWith('--')) {
      const [name = ''] = word.split('=');
      if (!GLOBAL_OPTIONS.includes(name) && !known.includes(name)) return `${command.name()} ${name}`;
      continue;
    }
    const isValue = words[index - 1]?.startsWith('--') === true;
    const child = command.commands.find(each => each.name() === word);
    if (child !== undefined && !isValue) command = child;
    else if (command.commands.length > 0 && !isValue) return `${command.name()} ${word}`;
  }
  return null;
}
