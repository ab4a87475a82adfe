/**
 * Makes the spec that is stored and sent out of the API's input. Nulls and absent fields are left out, so that defaults
 * stay the operator's and never freeze into a spec. Values of JSON inputs are checked for shape here; what they mean is
 * checked by validateSpec of the domain.
 */
import {
  type Outcome,
  type RedisClusterSpec,
  type SpecProblem,
  type UserError,
  succeed,
  validateNewSpec,
  validateSpec,
} from '#domain';
import type { RedisClusterSpecInput } from './redis-cluster-spec.input.ts';

/**
 * A spec that the operator would take, or every reason why not, with paths into the input. What new specs only may not
 * say is let through where `before` says it already: it may not be changeable any more.
 */
export function readSpecInput(input: RedisClusterSpecInput, before?: RedisClusterSpec): Outcome<RedisClusterSpec> {
  const wrong: UserError[] = [];
  const readMap = (value: unknown, field: readonly string[]): unknown => {
    if (value === undefined || value === null) return undefined;
    const entries = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : undefined;
    if (entries?.every(([, each]) => ['string', 'number', 'boolean'].includes(typeof each)) === true) {
      return Object.fromEntries(entries.map(([name, each]) => [name, String(each)]));
    }
    wrong.push(invalid(`"${field.at(-1) ?? ''}" must be an object of text values.`, field));
    return undefined;
  };
  const readResources = (value: RedisClusterSpecInput['resources'], field: readonly string[]): unknown =>
    value
      ? {
          requests: readMap(value.requests, [...field, 'requests']),
          limits: readMap(value.limits, [...field, 'limits']),
        }
      : undefined;
  const spec = withoutAbsent({
    ...input,
    config: readMap(input.config, ['input', 'spec', 'config']),
    resources: readResources(input.resources, ['input', 'spec', 'resources']),
    sentinel: input.sentinel
      ? {
          ...input.sentinel,
          resources: readResources(input.sentinel.resources, ['input', 'spec', 'sentinel', 'resources']),
        }
      : undefined,
    scheduling: input.scheduling
      ? {
          ...input.scheduling,
          nodeSelector: readMap(input.scheduling.nodeSelector, ['input', 'spec', 'scheduling', 'nodeSelector']),
        }
      : undefined,
  }) as unknown as RedisClusterSpec;
  return wrong.length > 0 ? { ok: false, errors: wrong } : checkNewSpec(spec, before);
}

function checkNewSpec(spec: RedisClusterSpec, before: RedisClusterSpec | undefined): Outcome<RedisClusterSpec> {
  const known = new Set(before === undefined ? [] : validateNewSpec(before).map(({ message }) => message));
  const lasting = new Set(validateSpec(spec).map(({ message }) => message));
  return toOutcome(
    spec,
    validateNewSpec(spec).filter(({ message }) => lasting.has(message) || !known.has(message)),
  );
}

/** The domain's own verdict on what lives in a member cluster, as user errors. */
export function checkSpec(spec: RedisClusterSpec): Outcome<RedisClusterSpec> {
  return toOutcome(spec, validateSpec(spec));
}

function toOutcome(spec: RedisClusterSpec, problems: readonly SpecProblem[]): Outcome<RedisClusterSpec> {
  if (problems.length === 0) return succeed(spec);
  return { ok: false, errors: problems.map((problem) => invalid(problem.message, ['input', ...problem.path])) };
}

const invalid = (message: string, field: readonly string[]): UserError => ({
  code: 'INVALID_INPUT',
  message,
  field,
  retryable: false,
});

/** A plain copy without null and undefined, at any depth. */
function withoutAbsent(value: object): Record<string, unknown> {
  const present = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(present.map(([name, inner]) => [name, copyPresent(inner)]));
}

function copyPresent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyPresent);
  return typeof value === 'object' && value !== null ? withoutAbsent(value) : value;
}
