/** RedisOperation Plan. */
import { verdict } from './operation-kind.ts';
import type { OperationKind, OperationVerdict } from './operation-kind.ts';

const judge = (): OperationVerdict => verdict('Failed', 'NotOffered', 'Previews are not offered by this agent.');

export const previewPlan: OperationKind = { begin: judge, proceed: judge, cancel: judge };
