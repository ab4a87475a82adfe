export { Link } from './link.ts';
export type { LinkParts, LinkSettings } from './ports.ts';
