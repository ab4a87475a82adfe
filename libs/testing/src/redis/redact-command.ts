/**
 * A command as it may be kept: names in capitals, secrets as `***`. Which words are secret is known by command, so that
 * what matters for a proof (names, options, addresses) stays readable.
 */
const SECRET_SETTINGS = /^(auth-pass|sentinel-pass|masterauth|requirepass|tls-key-file-pass|primaryauth)$/i;
const SECRET_RULE = /^[><#!]/;
const HIDDEN = '***';
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set([
  'ACL',
  'CLIENT',
  'CLUSTER',
  'CONFIG',
  'DEBUG',
  'SCRIPT',
  'SENTINEL',
]);

export function redactCommand(words: readonly string[]): string[] {
  const name = (words[0] ?? '').toUpperCase();
  const isSubcommand = WITH_SUBCOMMAND.has(name);
  return words.map((word, index) => {
    if (index === 0 || (index === 1 && isSubcommand)) return word.toUpperCase();
    return isSecret(name, words, index) ? HIDDEN : word;
  });
}

function isSecret(name: string, words: readonly string[], index: number): boolean {
  switch (name) {
    case 'AUTH':
      return index > 0 && index === words.length - 1;
    case 'HELLO':
      return words[index - 2]?.toUpperCase() === 'AUTH';
    case 'ACL':
      return SECRET_RULE.test(words[index] ?? '');
    case 'CONFIG':
    case 'SENTINEL':
      return SECRET_SETTINGS.test(words[index - 1] ?? '');
    default:
      return false;
  }
}
