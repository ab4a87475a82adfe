/**
 * RedisOperation RotateCredentials: done when the credentials carry this operation's uid and their rotation has settled.
 * Once the new version is there it cannot be called off: both passwords are valid then, and the way on is the safe one.
 */
import { extraUserKey } from '#manifests';
import { ownKeys } from '../read-credentials.ts';
import { openOperations } from './open-operations.ts';
import { verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';
import { wasRotatedFor } from './rotation-asked.ts';

export const rotateCredentials: OperationKind = {
  begin: (context) => {
    const unknown = findUnknownUser(context);
    if (unknown !== undefined) {
      const message = `${unknown} is no user whose password is made here; a password that is copied from a Secret is changed in that Secret.`;
      return verdict('Failed', 'NoSuchUser', message);
    }
    const step = stepOf(context);
    if (step === undefined) return verdict('Pending', 'NoCredentials', 'The passwords have not been seen yet.');
    if (step !== 'Settled' || isAnotherRunning(context)) {
      const { message = '' } = context.status.conditions.find(({ type }) => type === 'CredentialsInSync') ?? {};
      return verdict(
        'Pending',
        'RotationUnderWay',
        `Another rotation is under way; it ends first. ${message}`.trimEnd(),
      );
    }
    return verdict('Running', 'Rotating', 'New passwords are made; the old ones stay valid for now.', {
      steps: [{ name: 'Rotate', state: 'Running' }],
    });
  },
  proceed: (context) => judge(context),
  cancel: (context) =>
    wasRotatedFor(context.view, context.operation)
      ? judge(context)
      : verdict('Cancelled', 'Cancelled', 'It was called off before a password was changed.'),
};

/** Where the rotation stands; undefined when the Secret was not read. */
const stepOf = ({ status }: OperationContext) => status.credentials?.step;

/** Also while its end is told only to be written: the Secret names one operation at a time. */
const isAnotherRunning = ({ operation, view }: OperationContext): boolean =>
  openOperations(view.snapshot).some(
    (one) => one !== operation && one.spec.type === 'RotateCredentials' && one.status?.phase === 'Running',
  );

const findUnknownUser = ({ operation, view }: OperationContext): string | undefined => {
  const own = ownKeys(view);
  const { users = [] } = operation.spec.rotateCredentials ?? {};
  return users.find((user) => !own.includes(user) && !own.includes(extraUserKey(user)));
};

const judge = (context: OperationContext): OperationVerdict => {
  const { operation, view } = context;
  const step = stepOf(context);
  const begun = wasRotatedFor(view, operation);
  if (begun && step === 'Settled') {
    const message = 'The new passwords are published and the old ones are not valid any more.';
    return verdict('Succeeded', 'Rotated', message, { steps: [{ name: 'Rotate', state: 'Done', message }] });
  }
  const message = begun
    ? `The rotation is at step ${step ?? 'unknown'}.${operation.spec.cancel === true ? ' It cannot be called off any more.' : ''}`
    : 'New passwords are about to be made.';
  return verdict('Running', 'Rotating', message, { steps: [{ name: 'Rotate', state: 'Running', message }] });
};
