export { isPushedByAnother } from './is-pushed-by-another.ts';
export { Link } from './link.ts';
export type { LinkParts, LinkSettings } from './ports.ts';
