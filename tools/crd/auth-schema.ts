/**
 * spec.auth as the API server checks it. The rules of a user become a line of an ACL file, so they may not end the line,
 * carry a password, or name a user of the operator; what they grant is judged by libs/domain, which knows the commands.
 */
import { REFUSED_USER_NAMES, SPEC_LIMITS } from '#domain';
import { duration, fields, ITEM_HAS_OWN_NAME, list, text, type Schema } from './schema-parts.ts';

const secretRef = (description: string): Schema =>
  fields(
    description,
    {
      name: text('Name of the Secret, in the namespace of this object.', {
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      }),
      key: text('Key in it. Default password.', { minLength: 1, maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' }),
    },
    { required: ['name'] },
  );

const names = REFUSED_USER_NAMES.map((name) => `'${name}'`).join(', ');

const user = fields(
  'One user of Redis besides the application user.',
  {
    name: text('Its name: a-z, 0-9 and -, beginning with a letter.', {
      minLength: 1,
      maxLength: SPEC_LIMITS.maxUserNameLength,
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    }),
    rules: text('What it may do, as in ACL SETUSER and without passwords, for instance ~cache:* +@read.', {
      minLength: 1,
      maxLength: SPEC_LIMITS.maxUserRulesLength,
      // Printable ASCII without quotes and backslash: nothing that could end the line in an ACL file.
      pattern: '^[ !#-&(-\\[\\]-~]*$',
    }),
    secretRef: secretRef('Where its password comes from. Default: made by the agent, in Secret <name>-user-<user>.'),
  },
  {
    required: ['name', 'rules'],
    'x-kubernetes-validations': [
      ITEM_HAS_OWN_NAME,
      {
        rule: `!(self.name in [${names}])`,
        message: `auth.users: ${REFUSED_USER_NAMES.join(', ')} are users of the operator; choose another name.`,
        fieldPath: '.name',
      },
      {
        rule:
          "!self.name.endsWith('-connection') && !self.name.endsWith('-credentials') && " +
          "!self.name.contains('-user-')",
        message:
          'auth.users: a name may not hold -user- nor end in -connection or -credentials: Secrets are called so.',
        fieldPath: '.name',
      },
      {
        rule: "!self.rules.matches('(^|[ (])([><#!]|nopass|resetpass|reset |reset$|off |off$)')",
        message:
          'auth.users: rules may carry no password, nopass, resetpass, reset or off; give secretRef or leave it to the agent.',
        fieldPath: '.rules',
      },
    ],
  },
);

export const authSchema = (): Schema =>
  fields('Passwords and users. By default the agent makes one application user with a password.', {
    secretRef: secretRef(
      "Where the application user's password comes from: a Secret with label redis.atoll.dev/allow=true. Default: made by the agent.",
    ),
    rotation: fields('How passwords are changed.', {
      gracePeriod: {
        ...duration('How long the old password stays valid at least, as 10m. Default and least 3m.'),
        'x-kubernetes-validations': [
          {
            rule: "duration(self) >= duration('3m') && duration(self) <= duration('168h')",
            message:
              'auth.rotation.gracePeriod must be from 3m to 168h: a projected Secret reaches a pod up to two minutes late.',
          },
        ],
      },
    }),
    users: list('Users besides the application user.', user, {
      maxItems: SPEC_LIMITS.maxUsers,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
  });
