/**
 * What a data pod tells of its volume, in two places that the agent reads anyway: the words that Kubernetes keeps of a
 * container after its end, and the server's process title. The scripts of libs/manifests write them, so both sides take
 * the marks from here.
 */

/** Begins the last words of a container that has no room for a copy beside what was set aside. */
export const NO_ROOM = 'atoll-no-room';
/** Begins the last words of a container whose volume was all but full when it started. */
export const VOLUME_FULL = 'atoll-volume-full';
/** Words of ours begin like this; all else that a container leaves is not read. */
export const LAST_WORDS = /^atoll-[a-z-]+\b/;
/** Reason of an entry of status.setAside: a folder that a pod left when it was scaled away. */
export const LEFT_BEHIND = 'LeftBehind';
/** Before `SECOND:BYTES` in the title, once for each folder of an earlier membership. */
export const LEFT_SEEN = 'left=';

export interface LackOfRoom {
  /** Path in the container; the newest where several lie there. */
  readonly folder: string;
  /** What all such folders take. */
  readonly bytes: number;
  readonly freeBytes: number;
  readonly neededBytes: number;
}

/** undefined: the words say something else. */
export const readLackOfRoom = (words: string | undefined): LackOfRoom | undefined => {
  const found = /^(\S+) folder=(\S+) bytes=(\d+) free=(\d+) needed=(\d+)/.exec(words ?? '');
  if (found?.[1] !== NO_ROOM) return undefined;
  const [bytes = 0, freeBytes = 0, neededBytes = 0] = found.slice(3).map(Number);
  return { folder: found[2] ?? '', bytes, freeBytes, neededBytes };
};

export interface LeftFolder {
  /** Name on the data volume. */
  readonly folder: string;
  /** When its pod came back, in seconds since the epoch. */
  readonly second: number;
  readonly bytes: number;
}

/** Folders that a server's process title tells of, in its order. */
export const readLeftFolders = (title: string | undefined): readonly LeftFolder[] =>
  [...(title ?? '').matchAll(new RegExp(`${LEFT_SEEN}(\\d+):(\\d+)`, 'g'))].map(([, second, bytes]) => ({
    folder: `left-behind.${second ?? ''}`,
    second: Number(second),
    bytes: Number(bytes),
  }));

/** For people: `8 KiB`, `12 MiB`, `3.4 GiB`. */
export const describeBytes = (bytes: number): string => {
  if (bytes < MIB) return `${Math.ceil(bytes / 1_024)} KiB`;
  return bytes < 1_024 * MIB ? `${Math.ceil(bytes / MIB)} MiB` : `${(bytes / (1_024 * MIB)).toFixed(1)} GiB`;
};
const MIB = 1_048_576;
