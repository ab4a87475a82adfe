/**
 * By what two log lines are equal: their message, the fields that name what or who it is about, and the kind of error. No text
 * of an error and no value of a stranger counts, or each line would be the first of its kind.
 */
import { ownValue } from '../own-value.ts';
import { describeError, type DescribedError } from './describe-error.ts';

/** Names of what a line is about; all of them are ours, or as many as there are agents and objects. */
const ABOUT = [
  'code',
  'reason',
  'worker',
  'agentId',
  'partition',
  'type',
  'redisCluster',
  'namespace',
  'kind',
  'hubUid',
];
const MAX_NAME = 200;

/** Equal failures are written once a minute; other lines a few times. */
const BURST_OF_FAILURES = 1;
const BURST_OF_OTHERS = 5;

export interface NamedLine {
  readonly failure: string;
  readonly burst: number;
}

export function nameLine(fields: Readonly<Record<string, unknown>>): NamedLine {
  const about = ABOUT.map((name) => textOf(ownValue(fields, name)));
  const error = fields['err'] ?? fields['error'];
  if (!(error instanceof Error)) return { failure: about.join('\0'), burst: BURST_OF_OTHERS };
  return { failure: [...about, ...kindOf(describeError(error))].join('\0'), burst: BURST_OF_FAILURES };
}

const kindOf = ({ type, code, constraint, statement, stack }: DescribedError): string[] => [
  type,
  textOf(code),
  textOf(constraint),
  textOf(statement),
  textOf(stack?.split('\n', 1)[0]),
];

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_NAME) : '';
