/**
 * Cuts a byte stream into lines of text. Bytes are collected up to the newline and decoded once per line: the byte 0x0a
 * is never part of a longer UTF-8 character, so a character split over two chunks cannot be damaged. Empty lines are
 * dropped. What breaks without it: an event whose text is cut by a TCP segment would be lost without a trace.
 */
export interface LineSplitter {
  /** The lines completed by this chunk, in order. */
  push(chunk: Uint8Array): string[];
  /** Bytes of an unfinished line. */
  readonly pendingBytes: number;
}

const NEWLINE = 0x0a;

export function createLineSplitter(): LineSplitter {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const finish = (tail: Uint8Array): string => {
    const line = pending.length === 0 ? tail : Buffer.concat([...pending, tail]);
    pending = [];
    pendingBytes = 0;
    return Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8');
  };
  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = finish(chunk.subarray(start, end));
        if (line !== '' && line !== '\r') lines.push(line);
        start = end + 1;
      }
      if (start < chunk.length) {
        // A copy: the transport may use the chunk's memory again.
        pending.push(Uint8Array.prototype.slice.call(chunk, start));
        pendingBytes += chunk.length - start;
      }
      return lines;
    },
    get pendingBytes() {
      return pendingBytes;
    },
  };
}
