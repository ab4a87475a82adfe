/** RedisOperation Consent: in force until it expires or is called off. What it permits is asked by `consentGiven`. */
import { consentEndsMs } from './consent-given.ts';
import { verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';

const judge = ({ operation, view }: OperationContext): OperationVerdict => {
  const endsMs = consentEndsMs(operation);
  const hash = operation.spec.consent?.planHash ?? '';
  const until = new Date(endsMs).toISOString();
  if (view.nowMs >= endsMs) return verdict('Expired', 'ConsentExpired', `The consent to ${hash} held until ${until}.`);
  return verdict('Running', 'ConsentGiven', `The plan ${hash} may be carried out until ${until}.`);
};

export const consent: OperationKind = {
  begin: judge,
  proceed: judge,
  cancel: () => verdict('Cancelled', 'Cancelled', 'The consent was taken back.'),
};
