/**
 * Which lines are written, and which are counted: equal ones within a minute are merged into one that says how many they
 * were. Lines are equal by a key that names the failure and not what it was about, and those of one message are
 * bounded besides, so that no agent and no caller fills the log by failing in ever new words.
 */
const WINDOW_MS = 60_000;
const LOOK_MS = 10_000;
/** Of one message, whatever else differs. */
const MAX_OF_MESSAGE = 200;
const MAX_KEYS = 1_000;
const MAX_SUBJECTS = 10;

export interface GatedLine<Note> {
  /** A text of ours that all lines of this kind have in common. */
  readonly message: string;
  /** What makes this line differ from others of the same message, in names of ours. */
  readonly failure: string;
  /** How many equal ones a minute are written out. */
  readonly burst: number;
  /** The line, made only for the first one that is held. */
  readonly note: () => Note;
  /** Which request it was: some of them are named when the line is repeated. */
  readonly subject?: string | undefined;
}

export interface RepeatedLine<Note> {
  readonly note: Note;
  readonly repeated: number;
  readonly subjects: readonly string[];
}

interface Entry<Note> {
  readonly beganMs: number;
  said: number;
  held: number;
  note?: Note;
  readonly subjects: string[];
}

export interface LogGateParts<Note> {
  readonly nowMs: () => number;
  readonly later: (work: () => void, ms: number) => void;
  /** Writes one line for those that were held for a minute. */
  readonly tell: (line: RepeatedLine<Note>) => void;
}

export class LogGate<Note> {
  readonly #parts: LogGateParts<Note>;
  readonly #entries = new Map<string, Entry<Note>>();
  #isLooking = false;

  constructor(parts: LogGateParts<Note>) {
    this.#parts = parts;
  }

  /** True: write it. False: it is counted, and told within the next minute or so. */
  pass(line: GatedLine<Note>): boolean {
    const nowMs = this.#parts.nowMs();
    const ofMessage = this.#entryOf(line.message, nowMs);
    const same = this.#entries.size < MAX_KEYS ? this.#entryOf(`${line.message}\0${line.failure}`, nowMs) : ofMessage;
    if (same.said >= line.burst) return this.#hold(same, line);
    if (ofMessage.said >= MAX_OF_MESSAGE) return this.#hold(ofMessage, line);
    ofMessage.said += 1;
    if (same !== ofMessage) same.said += 1;
    return true;
  }

  #entryOf(key: string, nowMs: number): Entry<Note> {
    const known = this.#entries.get(key);
    if (known !== undefined && (known.held > 0 || nowMs - known.beganMs < WINDOW_MS)) return known;
    const entry = { beganMs: nowMs, said: 0, held: 0, subjects: [] };
    this.#entries.set(key, entry);
    return entry;
  }

  #hold(entry: Entry<Note>, { note, subject }: GatedLine<Note>): false {
    if (entry.held === 0) entry.note = note();
    entry.held += 1;
    if (subject !== undefined && entry.subjects.length < MAX_SUBJECTS) entry.subjects.push(subject);
    this.#lookLater();
    return false;
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#parts.later(() => {
      this.#isLooking = false;
      this.#tellDue(this.#parts.nowMs());
      if (this.#entries.size > 0) this.#lookLater();
    }, LOOK_MS);
  }

  #tellDue(nowMs: number): void {
    for (const [key, { beganMs, held, note, subjects }] of this.#entries) {
      if (nowMs - beganMs < WINDOW_MS) continue;
      this.#entries.delete(key);
      if (held === 0) continue;
      // The line that tells of them counts as the one of the next minute.
      this.#entries.set(key, { beganMs: nowMs, said: MAX_OF_MESSAGE, held: 0, subjects: [] });
      this.#parts.tell({ note: note as Note, repeated: held, subjects });
    }
  }
}
