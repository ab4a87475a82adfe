/**
 * How a name that another wrote is looked up in an object. Every object literal inherits `constructor`, `toString` and the
 * like, so `record[name]` answers a function for a name that nobody set. A `config.constructor` typed in a member cluster
 * made every list of the hub that held its object fail. eslint.config.js refuses the plain lookup.
 */

/** The value that was set under this name; undefined where none was, whatever the object inherits. */
export const ownValue = <Value>(
  record: { readonly [name: string]: Value } | undefined,
  name: string,
): Value | undefined =>
  // eslint-disable-next-line atoll/no-inherited-lookup -- the one place that looks whether it is an own name
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

/** Sets a value under any name; `record['__proto__'] = value` would change what the object inherits, and set nothing. */
export const setOwnValue = <Value>(record: { [name: string]: Value }, name: string, value: Value): void => {
  Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true });
};

/** The names that every object has without anybody's doing. No map of a spec may hold one: it is a mistake or an attack. */
export const INHERITED_NAMES: readonly string[] = [
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
  '__proto__',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
];

export const isInheritedName = (name: string): boolean => INHERITED_NAMES.includes(name);
