/**
 * Reads a file that something else replaces in place (projected service-account tokens, rotated certificates).
 * Kubernetes swaps a symlink, so watching the inode misses the change; reading again by age does not. The kubelet
 * renews a token when a fifth of its life is left, so one minute of age is always within its validity.
 */
import { readFile } from 'node:fs/promises';

export interface RotatingFile {
  /** Trimmed text. Rejects with the file system's error when it was never readable; an old text is kept over an error. */
  read(): Promise<string>;
  invalidate(): void;
}

export function openRotatingFile(path: string, monotonicMs: () => number, maxAgeMs = 60_000): RotatingFile {
  let text: string | undefined;
  let readAtMs = -Infinity;
  return {
    async read() {
      if (text !== undefined && monotonicMs() - readAtMs < maxAgeMs) return text;
      try {
        text = (await readFile(path, 'utf8')).trim();
        readAtMs = monotonicMs();
      } catch (error) {
        if (text === undefined) throw error;
      }
      return text;
    },
    invalidate() {
      readAtMs = -Infinity;
    },
  };
}
