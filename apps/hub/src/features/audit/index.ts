export { AuditResolver } from './audit.resolver.ts';
