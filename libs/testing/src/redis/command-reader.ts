/** Cuts a client's stream into commands: RESP arrays of bulk strings, whatever the pieces they arrive in. */
export class CommandReader {
  readonly #onCommand: (words: string[]) => void;
  #waiting = Buffer.alloc(0);

  constructor(onCommand: (words: string[]) => void) {
    this.#onCommand = onCommand;
  }

  push(data: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, data]);
    for (;;) {
      const taken = takeCommand(this.#waiting);
      if (taken === undefined) return;
      this.#waiting = this.#waiting.subarray(taken.end);
      this.#onCommand(taken.words);
    }
  }
}

/** The first whole command and where it ends; undefined while it is not all there. */
function takeCommand(buffer: Buffer): { words: string[]; end: number } | undefined {
  const head = takeLine(buffer, 0);
  if (head === undefined) return undefined;
  // An inline command is a line of words.
  if (!head.line.startsWith('*')) return { words: head.line.split(' ').filter(Boolean), end: head.end };
  const words: string[] = [];
  let at = head.end;
  for (let left = Number(head.line.slice(1)); left > 0; left -= 1) {
    const size = takeLine(buffer, at);
    if (size === undefined) return undefined;
    const end = size.end + Number(size.line.slice(1));
    if (buffer.length < end + 2) return undefined;
    words.push(buffer.toString('utf8', size.end, end));
    at = end + 2;
  }
  return { words, end: at };
}

function takeLine(buffer: Buffer, from: number): { line: string; end: number } | undefined {
  const at = buffer.indexOf('\r\n', from);
  return at < 0 ? undefined : { line: buffer.toString('latin1', from, at), end: at + 2 };
}
