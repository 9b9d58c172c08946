import { type Position, wordsAt } from './words.js';

const NAME = 'carbon-mirror';

export const SHELLS: Readonly<Record<string, (places: readonly Position[]) => string>> = { bash, zsh, fish };

function bash(places: readonly Position[]): string {
  return `# ${NAME} for bash: source <(${NAME} completion bash)
_carbon_mirror() {
  local place="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
${walk(places, '${COMP_WORDS[i]}', '    ')}
  done
${wanted(places, '${COMP_WORDS[COMP_CWORD-1]}')}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null
}
complete -F _carbon_mirror ${NAME}
`;
}

function zsh(places: readonly Position[]): string {
  return `#compdef ${NAME}
# ${NAME} for zsh: source <(${NAME} completion zsh)
_carbon_mirror() {
  local place="" said="" wanted="" i
  for ((i = 2; i < CURRENT; i++)); do
${walk(places, '${words[i]}', '    ')}
  done
${wanted(places, '${words[CURRENT-1]}').replaceAll('words=', 'wanted=')}
  compadd -- \${=wanted} || _files
}
compdef _carbon_mirror ${NAME}
`;
}

/** A word that is a command leads on to it; any other one stays where it is. */
function walk(places: readonly Position[], word: string, indent: string): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  return [
    `case "\${place:+$place }${word}" in`,
    `  ${paths.join('|')}) place="\${place:+$place }${word}" ;;`,
    'esac',
  ]
    .map(line => indent + line)
    .join('\n');
}

function wanted(places: readonly Position[], before: string): string {
  const afterOptions = places.flatMap(({ path, choices }) =>
    choices
      .filter(({ after }) => after !== '')
      .map(({ after, words }) => `    "${path} ${after}") words="${words.join(' ')}" ;;`),
  );
  const atPlaces = places.map(place => `      "${place.path}") words="${wordsAt(place).join(' ')}" ;;`);
  return [
    `  case "$place ${before}" in`,
    ...afterOptions,
    '    *) case "$place" in',
    ...atPlaces,
    '    esac ;;',
    '  esac',
  ].join('\n');
}

function fish(places: readonly Position[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  const lines = places.flatMap(({ path, commands, options, choices }) => {
    const at = `complete -c ${NAME} -n ${quoted(`test (__carbon_mirror_place) = "${path}"`)}`;
    const offered = (after: string) => choices.find(choice => choice.after === after)?.words ?? [];
    return [
      ...commands.map(({ text, meaning }) => `${at} -f -a ${text} -d ${quoted(meaning)}`),
      ...offered('').map(word => `${at} -f -a ${word}`),
      ...options.map(({ text, meaning }) => {
        const words = offered(text);
        const value = words.length === 0 ? '' : ` -x -a ${quoted(words.join(' '))}`;
        return `${at} -l ${text.replace(/^--/, '')}${value} -d ${quoted(meaning)}`;
      }),
    ];
  });
  return `# ${NAME} for fish: ${NAME} completion fish | source
function __carbon_mirror_place
  set -l place ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    contains -- $next ${paths.join(' ')}; and set place $next
  end
  echo "$place"
end
${lines.join('\n')}
`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
