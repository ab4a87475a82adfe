/**
 * Of the objects that carry one hubUid, the one that the hub means. Objects that say under which name the hub wants them
 * are told apart by that alone; among those of before (release 0.1.0 wrote no name) the oldest is the original, since a
 * copy of its YAML was made later. Two objects counted under one hubUid would make every digest differ for good.
 */
import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import { readHubVersion } from './hub-version.ts';

/** In their order, without those of no hub. */
export function leaveOutCopies<T extends KubeObject>(objects: Iterable<T>): T[] {
  const holders = new Map<string, T>();
  for (const object of objects) {
    const hubUid = readHubVersion(object)?.hubUid;
    if (hubUid === undefined) continue;
    const other = holders.get(hubUid);
    if (other === undefined || isRather(object, other)) holders.set(hubUid, object);
  }
  return [...holders.values()];
}

function isRather(a: KubeObject, b: KubeObject): boolean {
  const [isNamed, otherIsNamed] = [a, b].map(
    ({ metadata }) => metadata.annotations?.[ANNOTATION.hubName] !== undefined,
  );
  if (isNamed !== otherIsNamed) return isNamed === true;
  return ageKeyOf(a) < ageKeyOf(b);
}

/** Timestamps of Kubernetes sort as text; the uid decides within a second. */
const ageKeyOf = ({ metadata: { creationTimestamp = '', uid = '' } }: KubeObject): string =>
  `${creationTimestamp} ${uid}`;
