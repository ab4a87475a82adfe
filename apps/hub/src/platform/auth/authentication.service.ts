/**
 * Turns a bearer token into a viewer. Answers are kept for a second, so that a dashboard does not ask Postgres on each
 * request, while a revoked token is refused everywhere a second later at the latest, in open subscriptions too. Tokens that
 * are not known are remembered apart, so that a stranger's guesses push no valid token out; a token that was not valid here
 * lately is looked up within the budget of its address, and on connections that others do not wait for.
 */
import type { Clock } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import { JobLine } from '../database/job-line.ts';
import { asJobOwner } from '../database/job-owner.ts';
import { CLOCK } from '../lifecycle/time-and-ids.ts';
import { AuthenticationRepository } from './authentication.repository.ts';
import { hashToken, readBearerToken } from './bearer-token.ts';
import { RecentKeys } from './recent-keys.ts';
import { UnknownTokenBudget } from './unknown-tokens.rules.ts';
import type { Viewer } from './viewer.ts';

const KEPT_MS = 1_000;
/** A token that was just made is used after it was made: nobody waits for this. */
const UNKNOWN_KEPT_MS = 5_000;
/** A token that was valid within this time is looked up again whatever else comes from its address. */
const TRUSTED_MS = 10 * 60_000;
const MAX_KEPT = 10_000;
/** After a restart every token is looked up: those of a proxy's users all come from one address. */
const LOOKING = { slots: 1, perOwner: 1, reserved: 0, maxWaiting: 1_000, maxWaitMs: 5_000 };

/** Too many tokens that the hub does not know came from this address. */
export class TooManyUnknownTokens extends Error {}

@Injectable()
export class AuthenticationService {
  private readonly viewers = new RecentKeys<Viewer>(MAX_KEPT);
  private readonly trusted = new RecentKeys<true>(MAX_KEPT);
  private readonly unknown = new RecentKeys<true>(MAX_KEPT);
  private readonly budget = new UnknownTokenBudget();
  private readonly line = new JobLine(LOOKING);
  private readonly lookUps = new Map<string, Promise<Viewer | undefined>>();

  constructor(
    private readonly repository: AuthenticationRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The viewer of an Authorization header's value, or undefined. `source`: whose address it came from; none for a token that
   * was valid when its subscription began. Throws when Postgres does not answer, and TooManyUnknownTokens.
   */
  async authenticate(authorization: unknown, source?: string): Promise<Viewer | undefined> {
    const token = readBearerToken(authorization);
    if (token === undefined) return undefined;
    const hash = hashToken(token);
    const key = hash.toString('base64');
    const nowMs = this.clock.monotonicMs();
    const kept = this.viewers.get(key, nowMs);
    if (kept || this.unknown.get(key, nowMs)) return kept;
    const underWay = this.lookUps.get(key);
    if (underWay) return underWay;
    const isTrusted = source === undefined || this.trusted.get(key, nowMs) === true;
    const lookUp = isTrusted ? this.lookUp(key, hash, 'tokens') : this.lookUpWithin(source, { key, hash });
    this.lookUps.set(key, lookUp);
    return lookUp.finally(() => this.lookUps.delete(key));
  }

  /** One after the other, with turns by address, so that the budget is known before each. */
  private async lookUpWithin(
    source: string,
    { key, hash }: { readonly key: string; readonly hash: Buffer },
  ): Promise<Viewer | undefined> {
    this.refuseBeyondBudget(source);
    const leave = await new Promise<() => void>((done, refuse) => {
      this.line.enter(source, (error, end) => (error ? refuse(new TooManyUnknownTokens()) : done(end)));
    });
    try {
      this.refuseBeyondBudget(source);
      const viewer = await this.lookUp(key, hash, 'unknown tokens');
      if (!viewer) this.budget.noteUnknown(source, this.clock.monotonicMs());
      return viewer;
    } finally {
      leave();
    }
  }

  private refuseBeyondBudget(source: string): void {
    if (!this.budget.mayLookUp(source, this.clock.monotonicMs())) throw new TooManyUnknownTokens();
  }

  private async lookUp(key: string, hash: Buffer, owner: 'tokens' | 'unknown tokens'): Promise<Viewer | undefined> {
    const viewer = await asJobOwner(owner, () => this.repository.findViewer(hash));
    const nowMs = this.clock.monotonicMs();
    if (viewer) {
      this.viewers.note(key, viewer, nowMs + KEPT_MS);
      this.trusted.note(key, true, nowMs + TRUSTED_MS);
    } else {
      this.trusted.forget(key);
      this.unknown.note(key, true, nowMs + UNKNOWN_KEPT_MS);
    }
    return viewer;
  }
}
