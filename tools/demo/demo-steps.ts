/** The progress of a long job for people: a line when a step begins and one with its seconds when it ends. */
export interface StepRecord {
  readonly name: string;
  readonly seconds: number;
}

const NOTICE_INTERVAL_MS = 5_000;

export class Steps {
  readonly records: StepRecord[] = [];
  readonly #startedAt = performance.now();
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  readonly log = (line: string): void => this.#write(`    ${line}`);

  /** Runs one step; while it lasts, a line each five seconds says that it still does. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const secondsSince = (from: number): number => Math.round((performance.now() - from) / 100) / 10;
    this.#write(`… ${name}`);
    const notice = setInterval(() => this.#write(`  ${name}: ${secondsSince(startedAt)} s`), NOTICE_INTERVAL_MS);
    try {
      const result = await work();
      const seconds = secondsSince(startedAt);
      this.records.push({ name, seconds });
      this.#write(`✓ ${name} (${seconds} s)`);
      return result;
    } finally {
      clearInterval(notice);
    }
  }

  get totalSeconds(): number {
    return Math.round((performance.now() - this.#startedAt) / 100) / 10;
  }
}
