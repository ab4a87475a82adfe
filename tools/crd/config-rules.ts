/**
 * The CEL rules over spec.config, made from the one table of operator-owned directives in libs/domain. One rule a
 * reason, so that the refusal says why; each is one pass over at most 256 keys, which keeps the estimated cost within
 * the API server's budget.
 */
import { OPERATOR_OWNED_CONFIG, OPERATOR_OWNED_PREFIXES, OPERATOR_OWNED_SUFFIXES } from '#domain';
import type { Rule } from './schema-parts.ts';

const quote = (name: string): string => `'${name}'`;

export const configRules = (): Rule[] => {
  const directivesByReason = new Map<string, string[]>();
  for (const [directive, reason] of Object.entries(OPERATOR_OWNED_CONFIG)) {
    directivesByReason.set(reason, [...(directivesByReason.get(reason) ?? []), directive]);
  }
  const byName = [...directivesByReason].map(([reason, directives]) => ({
    rule: `!self.exists(k, k in [${directives.map(quote).join(', ')}])`,
    message: `config may not set ${directives.join(', ')}: ${reason}.`,
  }));
  const affixes = [
    ...OPERATOR_OWNED_PREFIXES.map((prefix) => `k.startsWith(${quote(prefix)})`),
    ...OPERATOR_OWNED_SUFFIXES.map((suffix) => `k.endsWith(${quote(suffix)})`),
  ];
  const named = [
    ...OPERATOR_OWNED_PREFIXES.map((prefix) => `${prefix}*`),
    ...OPERATOR_OWNED_SUFFIXES.map((suffix) => `*${suffix}`),
  ];
  return [
    ...byName,
    {
      rule: `!self.exists(k, ${affixes.join(' || ')})`,
      message: `config may not set ${named.join(', ')}: they belong to the operator.`,
    },
    {
      rule: "self.all(k, k.matches('^[a-z][a-z0-9_-]*$'))",
      message: 'config takes directives in lower case as in redis.conf, for instance maxmemory-policy.',
    },
  ];
};
