export * from './canonical-json.ts';
export * from './chunk-by-size.ts';
export * from './digest.ts';
export * from './envelopes.ts';
export * from './frame.ts';
export * from './messages.ts';
export * from './signing.ts';
export * from './status-hash.ts';
