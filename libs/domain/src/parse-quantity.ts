/**
 * Kubernetes quantities as numbers, so that two spellings of one amount compare equal (`1Gi` and `1024Mi`, `500m` and
 * `0.5`). Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
import { ownValue } from './own-value.ts';

const SUFFIX: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** The amount in base units (bytes, cores); undefined when the text is no quantity. */
export const parseQuantity = (text: string): number | undefined => {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = match;
  const factor = ownValue(SUFFIX, suffix);
  return factor === undefined ? undefined : Number(`${digits}${exponent}`) * factor;
};

const REDIS_UNIT: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 2 ** 10,
  m: 1e6,
  mb: 2 ** 20,
  g: 1e9,
  gb: 2 ** 30,
};

/** Redis' own memory grammar (`100mb`; `100m` is 100,000,000); undefined for what redis-server refuses. */
export const parseRedisMemory = (text: string): number | undefined => {
  const match = /^(\d+)(b|k|kb|m|mb|g|gb)?$/i.exec(text);
  if (match === null) return undefined;
  const factor = ownValue(REDIS_UNIT, (match[2] ?? '').toLowerCase());
  return factor === undefined ? undefined : Number(match[1]) * factor;
};
