/**
 * Turns a bearer token into a viewer. Answers are kept for a second, so that a dashboard does not ask Postgres on each
 * request, while a revoked token is refused everywhere a second later at the latest, in open subscriptions too.
 */
import type { Clock } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '../lifecycle/time-and-ids.ts';
import { AuthenticationRepository } from './authentication.repository.ts';
import { hashToken, readBearerToken } from './bearer-token.ts';
import type { Viewer } from './viewer.ts';

const KEPT_MS = 1_000;
const MAX_KEPT = 10_000;

interface Kept {
  readonly viewer: Promise<Viewer | undefined>;
  readonly untilMs: number;
}

@Injectable()
export class AuthenticationService {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly repository: AuthenticationRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The viewer of an Authorization header's value, or undefined. Throws when Postgres does not answer. */
  async authenticate(authorization: unknown): Promise<Viewer | undefined> {
    const token = readBearerToken(authorization);
    if (token === undefined) return undefined;
    const hash = hashToken(token);
    const key = hash.toString('base64');
    const nowMs = this.clock.monotonicMs();
    const kept = this.kept.get(key);
    if (kept && kept.untilMs > nowMs) return kept.viewer;
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    const viewer = this.repository.findViewer(hash);
    this.kept.set(key, { viewer, untilMs: nowMs + KEPT_MS });
    viewer.catch(() => this.kept.delete(key));
    return viewer;
  }
}
