import { Args, Context, Int, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { AuditConnection } from './audit.model.ts';
import { AuditService } from './audit.service.ts';

@Resolver()
export class AuditResolver {
  constructor(private readonly entries: AuditService) {}

  @Query(() => AuditConnection, { description: 'Newest first. Rows of a project need ADMIN there.' })
  audit(
    @Args('first', { type: () => Int, nullable: true, defaultValue: 50, description: 'At most 100.' })
    first: number | null | undefined,
    @Args('after', { type: () => String, nullable: true }) after: string | undefined,
    @Context('caller') caller: Caller,
  ): Promise<AuditConnection> {
    return this.entries.list(first, after, caller);
  }
}
