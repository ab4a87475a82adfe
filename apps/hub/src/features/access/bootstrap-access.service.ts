/**
 * Makes what nobody could make otherwise: the project `default` and the administrator whose token lies in a file. Runs
 * at each start before the hub listens. choose-admin-token.rules.ts says what becomes of the token of this hub's file;
 * docs/adr/0062-one-token-of-the-first-administrator.md says why.
 */
import type { Clock } from '#domain';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hashToken } from '../../platform/auth/index.ts';
import { ConfigError } from '../../platform/config/hub-config.ts';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK, IDS, type IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import { DEFAULT_PROJECT } from './access.service.ts';
import { adminTokenFile, makeToken, readAdminToken, writeFirstToken } from './admin-token-file.ts';
import {
  addBootstrapToken,
  findToken,
  type ListedToken,
  listOtherBootstrapTokens,
  revokeTokens,
} from './admin-tokens.repository.ts';
import { BootstrapAccessRepository } from './bootstrap-access.repository.ts';
import { countLiveAdminTokens, recordTokens } from './change-tokens.ts';
import { chooseAdminToken, type TokenChoice } from './choose-admin-token.rules.ts';

interface Bootstrapped {
  readonly choice: TokenChoice;
  readonly others: readonly ListedToken[];
  readonly liveAdminTokens: number;
}

@Injectable()
export class BootstrapAccessService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: BootstrapAccessRepository,
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: IdSource,
  ) {}

  async onModuleInit(): Promise<void> {
    // Before anything is stored: a file that is wrong ends the start.
    const token = await readAdminToken(this.runtime.config);
    this.tell(await this.dataSource.transaction((tx) => this.ensure(tx, token)));
  }

  private async ensure(tx: EntityManager, found: string | undefined): Promise<Bootstrapped> {
    const at = new Date(this.clock.nowMs());
    const newId = (): string => this.ids.newId();
    await this.repository.lock(tx);
    await this.repository.ensureProject(tx, { id: newId(), name: DEFAULT_PROJECT, at });
    await this.repository.ensureAdmin(tx, { id: newId(), bindingId: newId(), at });
    const tokenHash = found === undefined ? null : hashToken(found);
    const others = await listOtherBootstrapTokens(tx, tokenHash);
    const own = tokenHash ? await findToken(tx, tokenHash) : undefined;
    if (own && own.kind !== 'BOOTSTRAP_ADMIN')
      throw new ConfigError(
        `${adminTokenFile(this.runtime.config)}: this is the token of the principal ${own.principal}`,
      );
    const choice = chooseAdminToken({ isConfigured: this.runtime.config.adminTokenFile !== undefined, own, others });
    if (choice.kind === 'ADD') await this.add(tx, tokenHash ?? hashToken(await this.makeFile()), at);
    if (choice.kind === 'ADD' || choice.kind === 'KEEP') await this.revoke(tx, choice.revoke, at);
    return { choice, others, liveAdminTokens: await countLiveAdminTokens(tx) };
  }

  private async makeFile(): Promise<string> {
    await writeFirstToken(
      this.runtime.config,
      makeToken((length) => this.ids.randomBytes(length)),
    );
    const token = await readAdminToken(this.runtime.config);
    if (token === undefined) throw new Error(`${adminTokenFile(this.runtime.config)} was written and is gone`);
    return token;
  }

  private async add(tx: EntityManager, tokenHash: Buffer, at: Date): Promise<void> {
    const madeBy = `${adminTokenFile(this.runtime.config)}, replica ${this.runtime.replica}`;
    const id = this.ids.newId();
    await addBootstrapToken(tx, { id, tokenHash, madeBy, at });
    await recordTokens(tx, { principal: 'hub', action: 'addAdminToken', target: id, after: { madeBy } }, at);
  }

  private async revoke(tx: EntityManager, ids: readonly string[], at: Date): Promise<void> {
    await revokeTokens(tx, ids, { revokedFor: 'REPLACED', at });
    for (const id of ids)
      await recordTokens(tx, { principal: 'hub', action: 'revokeToken', target: id, after: { why: 'REPLACED' } }, at);
  }

  private tell({ choice, others, liveAdminTokens }: Bootstrapped): void {
    const about = { file: adminTokenFile(this.runtime.config), liveAdminTokens };
    if (choice.kind === 'ENDED') {
      this.runtime.log.error({ code: 'ADMIN_TOKEN_ENDED', why: choice.why, ...about }, ENDED);
    } else if (choice.kind === 'LEAVE') {
      const madeBy = others.map((other) => other.madeBy);
      this.runtime.log.warn({ code: 'ADMIN_TOKEN_ELSEWHERE', madeBy, ...about }, ELSEWHERE);
    } else if (liveAdminTokens > 1) {
      this.runtime.log.warn({ code: 'ADMIN_TOKENS_SEVERAL', ...about }, SEVERAL);
    } else this.runtime.log.info(about, "the administrator's token is in this file");
  }
}

const ENDED =
  "the administrator's token in this file is not valid any more: it was revoked, or a later one took its place. Put another one into the file and start again; one that was only replaced comes back by `tokens replace`";
const ELSEWHERE =
  'this database has an administrator whose token was made elsewhere, so none is made here. If it is lost, run `tokens replace --new` beside this hub';
const SEVERAL =
  "the administrator's token is in this file, and it is not the only one: `tokens list` shows them, `tokens revoke` ends one, `tokens replace` all but this";
