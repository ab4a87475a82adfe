/** RFC 7386 merge patch and RFC 6902 JSON patch (add, replace, remove, test) on plain objects. */
import { isDeepStrictEqual } from 'node:util';
import { isPlain, type Plain } from './field-ownership.ts';
import { StatusError } from './status-error.ts';

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlain(patch)) return patch;
  const result: Plain = isPlain(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

export function jsonPatch(target: Plain, operations: readonly Operation[]): Plain {
  const result = structuredClone(target);
  for (const operation of operations) runOperation(result, operation);
  return result;
}

function runOperation(root: Plain, { op, path, value }: Operation): void {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  const holder = holderAt(root, steps);
  if (holder === undefined || (op === 'remove' && !(last in holder))) throw invalid(`the path ${path} does not exist`);
  if (op === 'test') {
    if (!isDeepStrictEqual((holder as Plain)[last], value)) throw invalid(`testing value ${path} failed`);
  } else if (Array.isArray(holder)) changeItem(holder, last, op, value);
  else changeField(holder, last, op, value);
}

function holderAt(root: Plain, steps: readonly string[]): Plain | unknown[] | undefined {
  let holder: unknown = root;
  for (const step of steps) holder = (holder as Plain | undefined)?.[step];
  return isPlain(holder) || Array.isArray(holder) ? holder : undefined;
}

function changeItem(items: unknown[], at: string, op: string, value: unknown): void {
  const index = at === '-' ? items.length : Number(at);
  if (op === 'add') items.splice(index, 0, value);
  else if (op === 'remove') items.splice(index, 1);
  else items[index] = value;
}

function changeField(fields: Plain, name: string, op: string, value: unknown): void {
  if (op === 'remove') delete fields[name];
  else fields[name] = value;
}

const invalid = (message: string): StatusError => new StatusError(422, 'Invalid', message);
