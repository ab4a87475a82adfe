import { INHERITED_NAMES } from '#domain';

/** The few shapes of an OpenAPI v3 structural schema that the CRDs are made of. No `default:` anywhere (04). */
export interface Schema {
  readonly type?: 'object' | 'string' | 'integer' | 'boolean' | 'array' | 'number';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly { readonly type: 'integer' | 'string' }[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'map' | 'atomic' | 'set';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** One CEL rule. `message` is a whole sentence: what is wrong and what to do instead. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

const inheritedNames = INHERITED_NAMES.map((name) => `'${name}'`).join(', ');

/** For a map whose keys the user chooses. A program that looks up such a name finds what nobody set. */
export const NO_INHERITED_NAME: Rule = {
  rule: `!self.exists(k, k in [${inheritedNames}])`,
  message: `A name may not be ${INHERITED_NAMES.join(', ')}: every object has it by itself.`,
};

/** The same for the items of a list that have names. */
export const ITEM_HAS_OWN_NAME: Rule = {
  rule: `!(self.name in [${inheritedNames}])`,
  message: NO_INHERITED_NAME.message,
  fieldPath: '.name',
};

export const text = (description: string, more: Partial<Schema> = {}): Schema => ({
  type: 'string',
  description,
  ...more,
});

export const whole = (description: string, more: Partial<Schema> = {}): Schema => ({
  type: 'integer',
  format: 'int64',
  description,
  ...more,
});

export const choice = (description: string, values: readonly string[], more: Partial<Schema> = {}): Schema =>
  text(description, { enum: values, ...more });

export const flag = (description: string): Schema => ({ type: 'boolean', description });

/** RFC 3339. */
export const moment = (description: string): Schema => text(description, { format: 'date-time' });

export const fields = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  more: Partial<Schema> = {},
): Schema => ({ type: 'object', description, properties, ...more });

export const list = (description: string, items: Schema, more: Partial<Schema> = {}): Schema => ({
  type: 'array',
  description,
  items,
  'x-kubernetes-list-type': 'atomic',
  ...more,
});

/** Grammar of Kubernetes quantities, as in Kubernetes' own CRDs. */
const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

const quantity: Schema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: QUANTITY_PATTERN,
  'x-kubernetes-int-or-string': true,
};

const quantities = (description: string): Schema => ({
  type: 'object',
  description,
  additionalProperties: quantity,
  maxProperties: 16,
  'x-kubernetes-validations': [NO_INHERITED_NAME],
});

export const resources = (description: string): Schema =>
  fields(description, {
    requests: quantities('What the scheduler sets aside.'),
    limits: quantities('What a container may use at most.'),
  });

export const quantityText = (description: string): Schema =>
  text(description, { pattern: QUANTITY_PATTERN, maxLength: 32 });

export const duration = (description: string): Schema =>
  text(description, { pattern: '^([0-9]+(ms|s|m|h))+$', maxLength: 20 });
