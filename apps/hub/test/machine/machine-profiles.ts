/**
 * Lives that are about one thing, since what is rare in all of them would meet its condition in none: by the name of a step the
 * factor of its weight (machine-steps.ts). A seed has the profile of its remainder.
 */
export type Profile = Readonly<Record<string, number>>;

/** Profiles that begin with objects that are there. */
export const BEGUN: ReadonlySet<number> = new Set([1, 2]);

export const PROFILES: readonly Profile[] = [
  {},
  // Many single deletes, each delivered by itself, and hardly any time that passes: the agent's own limit has to do.
  {
    'a person deletes': 2,
    'a person deletes, and it is delivered': 20,
    'a person deletes all, one after the other': 0,
    'a person changes': 0.2,
    'a person lets go': 0.2,
    'five minutes pass': 0.3,
    'kubectl create': 0.1,
    'the hub is put back': 0,
    'the hub is put back and nobody notices': 0,
    'the agent loses its state': 0,
    'the member cluster is put back': 0,
  },
  // The hub comes back older, with deletes that were pending then; objects come back after their delete.
  {
    'a person deletes': 2,
    'a delete waits in a dump that is put back': 40,
    'a delete is carried out unheard, and its object put back': 40,
    'an object is exchanged while its agent is away': 40,
    'the hub is dumped': 3,
    'the hub is put back': 3,
    'the member cluster is backed up': 2,
    'the objects of the member cluster are put back': 3,
    'an object is put back under its hands': 3,
  },
  // Sessions that overtake each other.
  {
    'the agent dials over a dead connection': 6,
    'late frame of an old connection': 8,
    'frame to the hub': 0.6,
    'the connection breaks': 2,
  },
];
