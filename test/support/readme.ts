import type { Command } from 'commander';
import { SETTINGS } from '../../src/config/settings.js';
import { defineProgram } from './commands.js';

/** README's table of settings, as the code has them. */
export function settingsTable(): string {
  const rows = SETTINGS.map(setting => {
    const standard = setting.default === null ? 'none' : code(setting.default);
    return `| \`${setting.name}\` | ${standard} | ${setting.what.replaceAll('|', '\\|')} |`;
  });
  return ['| name | default | what |', '|---|---|---|', ...rows].join('\n');
}

/** README's table of commands, in the words of their own help. */
export async function commandsTable(): Promise<string> {
  const { commands } = defineProgram();
  const rows = commands.map(command => `| ${synopsis(command)} | ${command.description()} |`);
  return ['| command | what it does |', '|---|---|', ...rows].join('\n');
}

function synopsis(command: Command): string {
  const subcommands = command.commands.map(each => each.name()).filter(name => name !== 'help');
  if (subcommands.length > 6) return `\`${command.name()} ...\``;
  if (subcommands.length > 0) return `\`${command.name()} ${subcommands.join('\\|')}\``;
  const taken = command.registeredArguments.map(each =>
    each.required ? each.name().toUpperCase() : `[${each.name().toUpperCase()}]`,
  );
  return `\`${[command.name(), ...taken].join(' ')}\``;
}

/** The code blocks of one language. */
export function blocks(markdown: string, language: string): string[] {
  return Array.from(
    markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
    match => match[1] ?? '',
  );
}

function code(text: string): string {
  return /^\d+( \w+)?, /.test(text) ? text : `\`${text}\``;
}
