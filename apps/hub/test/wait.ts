/**
 * Bounds a wait for something that surely comes. It ends in the moment it is there; the bound only ends a test that would
 * hang, so it is far from what any machine needs, and no test proves by it how fast something is.
 */
export const WAIT = { timeout: 20_000, interval: 25 };
