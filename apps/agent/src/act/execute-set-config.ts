/**
 * CONFIG SET on one pod: one command for all values, fewer when the server refuses some. What it refuses, or takes and
 * changes silently, is no failure of the action: it is noted for the status, and the next pass leaves it alone.
 */
import { isSameConfigValue, ownValue } from '#domain';
import type { Executor } from './execution-context.ts';
import { requireLink } from './execution-context.ts';

export const executeSetConfig: Executor<'SetConfig'> = async ({ pod, values }, context) => {
  const link = requireLink(context.findRedis(pod), pod);
  context.assertMayWrite();
  const { refused, live } = await link.applyConfig(values);
  const facts = Object.keys(refused).length > 0 || isChanged(values, live) ? await link.probe() : undefined;
  if (facts?.reachable !== true) return;
  const engine = `${facts.engine} ${facts.version}`;
  for (const [key, said] of Object.entries(refused)) {
    context.noteRejectedConfig({
      key,
      value: ownValue(values, key) ?? '',
      reason: `${engine} refused it: ${said}.`,
      engine,
    });
  }
  for (const [key, kept] of Object.entries(live)) {
    const value = ownValue(values, key) ?? '';
    if (isSameConfigValue(key, value, kept)) continue;
    const reason = `${engine} runs ${kept} where ${value} was asked for.`;
    context.noteRejectedConfig({ key, value, reason, kept, engine });
  }
};

const isChanged = (values: Readonly<Record<string, string>>, live: Readonly<Record<string, string>>): boolean =>
  Object.entries(live).some(([key, kept]) => !isSameConfigValue(key, ownValue(values, key) ?? '', kept));
