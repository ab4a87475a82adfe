export { findThawed, FROZEN_TYPES, type FrozenType, withoutOptional } from './frozen-messages.ts';
export { type CountedDialect, createProtocol0, createProtocol1 } from './protocol-0.ts';
