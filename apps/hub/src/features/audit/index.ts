/** Public face of audit: every mutation runs through RunMutationService. */
export { AuditModule } from './audit.module.ts';
export { AuditRepository } from './audit.repository.ts';
export { AuditResolver } from './audit.resolver.ts';
export type { ChainHead } from './chain/chain-link.rules.ts';
export { formatHead } from './chain/chain-work.ts';
export { verifyAudit } from './chain/verify-audit.ts';
export { RunMutationService, type Answer, type AuditNote } from './run-mutation.service.ts';
export { trimIdempotencyKeys } from './trim-idempotency-keys.ts';
