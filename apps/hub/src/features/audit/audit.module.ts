import { Module } from '@nestjs/common';
import { AuditRepository } from './audit.repository.ts';
import { AuditResolver } from './audit.resolver.ts';
import { AuditWorkers } from './audit-workers.ts';
import { AuditService } from './audit.service.ts';
import { IdempotencyRepository } from './idempotency.repository.ts';
import { RecordUndoneService } from './record-undone.service.ts';
import { RunMutationService } from './run-mutation.service.ts';

@Module({
  providers: [
    AuditRepository,
    AuditResolver,
    AuditService,
    AuditWorkers,
    IdempotencyRepository,
    RecordUndoneService,
    RunMutationService,
  ],
  exports: [AuditRepository, RunMutationService],
})
export class AuditModule {}
