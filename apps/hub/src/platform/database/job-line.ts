/**
 * Who may use a connection next, of a pool that many owners share. An owner holds at most `perOwner` of them, the last
 * `reserved` ones are for owners that hold none, and those that wait have their turns owner by owner. So an owner that asks
 * for a thousand reads at once waits for itself: anyone else begins at once, or after one read.
 * Without it one caller fills the pool, and all others wait behind what it asked for.
 */
export interface JobLimits {
  /** Connections of the pool. */
  readonly slots: number;
  readonly perOwner: number;
  readonly reserved: number;
  /** Jobs of one owner that wait; one more is refused. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** Refused: its owner has too many jobs already. */
export class TooManyJobs extends Error {
  readonly code = 'TOO_MANY_JOBS';
}

/** Called once, with the way to give the slot back, or with why there is none. */
type Begin = (error: Error | undefined, leave: () => void) => void;
interface Waiting {
  readonly begin: Begin;
  readonly timer: NodeJS.Timeout;
}
interface Owner {
  running: number;
  readonly waiting: Set<Waiting>;
}

const ALL_BUSY = 'The database was busy with requests of others for too long. Try again soon.';
const NOTHING_TO_LEAVE = (): void => undefined;

export class JobLine {
  readonly #limits: JobLimits;
  /** In the order of their turns. */
  readonly #owners = new Map<string, Owner>();
  #running = 0;

  constructor(limits: JobLimits) {
    this.#limits = limits;
  }

  /** Jobs that run and that wait, of one owner. */
  count(name: string): { readonly running: number; readonly waiting: number } {
    const owner = this.#owners.get(name);
    return { running: owner?.running ?? 0, waiting: owner?.waiting.size ?? 0 };
  }

  enter(name: string, begin: Begin): void {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: new Set() };
    this.#owners.set(name, owner);
    if (owner.waiting.size === 0 && this.#mayRun(owner)) return this.#run(name, owner, begin);
    const { maxWaiting, maxWaitMs } = this.#limits;
    if (owner.waiting.size >= maxWaiting) return begin(new TooManyJobs(this.#explain()), NOTHING_TO_LEAVE);
    const timer = setTimeout(() => {
      owner.waiting.delete(waiting);
      this.#forgetIfIdle(name, owner);
      begin(new TooManyJobs(owner.running > 0 ? this.#explain() : ALL_BUSY), NOTHING_TO_LEAVE);
    }, maxWaitMs).unref();
    const waiting = { begin, timer };
    owner.waiting.add(waiting);
  }

  #mayRun({ running }: Owner): boolean {
    const { slots, perOwner, reserved } = this.#limits;
    const free = slots - this.#running;
    return running < perOwner && free > (running === 0 ? 0 : reserved);
  }

  #run(name: string, owner: Owner, begin: Begin): void {
    owner.running += 1;
    this.#running += 1;
    let isLeft = false;
    begin(undefined, () => {
      if (isLeft) return;
      isLeft = true;
      owner.running -= 1;
      this.#running -= 1;
      this.#forgetIfIdle(name, owner);
      this.#next();
    });
  }

  /** The first owner in turn that has a job and may run it; its next turn is the last one. */
  #next(): void {
    for (const [name, owner] of this.#owners) {
      const [first] = owner.waiting;
      if (!first || !this.#mayRun(owner)) continue;
      clearTimeout(first.timer);
      owner.waiting.delete(first);
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      return this.#run(name, owner, first.begin);
    }
  }

  #forgetIfIdle(name: string, owner: Owner): void {
    if (owner.running === 0 && owner.waiting.size === 0 && this.#owners.get(name) === owner) this.#owners.delete(name);
  }

  #explain(): string {
    const { perOwner, maxWaiting } = this.#limits;
    return `At most ${perOwner} of what one principal asks for runs at once, and ${maxWaiting} wait. Send fewer requests at once, and try again after their answers.`;
  }
}
