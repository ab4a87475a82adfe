/**
 * Makes what nobody could make otherwise: the project `default` and the administrator whose token lies in a file. Runs
 * at each start before the hub listens. A token file that was given is the truth, so replacing its content and
 * restarting rotates the token; replicas share that file, as they share the certificate's.
 */
import type { Clock } from '#domain';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { DataSource, type EntityManager } from 'typeorm';
import type { HubConfig } from '../../platform/config/hub-config.ts';
import { hashToken } from '../../platform/auth/index.ts';
import { CONFIG, LOG } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK, IDS, type IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import { DEFAULT_PROJECT } from './access.service.ts';
import { adminTokenFile, readAdminToken } from './admin-token-file.ts';
import { BootstrapAccessRepository } from './bootstrap-access.repository.ts';

const TOKEN_BYTES = 32;

@Injectable()
export class BootstrapAccessService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: BootstrapAccessRepository,
    @Inject(CONFIG) private readonly config: HubConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: IdSource,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const token = await readAdminToken(
      this.config,
      () => `atoll_${this.ids.randomBytes(TOKEN_BYTES).toString('base64url')}`,
    );
    await this.dataSource.transaction((tx) => this.ensure(tx, hashToken(token)));
    this.log.info({ file: adminTokenFile(this.config) }, "the administrator's token is in this file");
  }

  private async ensure(tx: EntityManager, tokenHash: Buffer): Promise<void> {
    const at = new Date(this.clock.nowMs());
    const newId = (): string => this.ids.newId();
    await this.repository.lock(tx);
    await this.repository.ensureProject(tx, { id: newId(), name: DEFAULT_PROJECT, at });
    const principalId = await this.repository.ensureAdmin(tx, { id: newId(), bindingId: newId(), at });
    await this.repository.ensureToken(tx, { id: newId(), principalId, tokenHash, at });
    if (this.config.adminTokenFile !== undefined)
      await this.repository.revokeOthers(tx, { principalId, tokenHash, at });
  }
}
