/** True when a field path (`spec.config.maxmemory`) is `field` or lies under it. */
export const isAtOrUnder = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
