/** What a data pod says of itself: master, whose replica, waiting, or linked to nobody. */
import { REDIS_PORT, WAITING_PRIMARY_HOST } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, DataPod } from './cluster-view.ts';

export const isMaster = (pod: DataPod): pod is AnsweringPod => answers(pod) && pod.facts.role === 'master';

export const followsAddressOf = (follower: DataPod, leader: DataPod): boolean =>
  answers(follower) &&
  follower.facts.role === 'slave' &&
  leader.ip !== undefined &&
  follower.facts.masterHost === leader.ip &&
  follower.facts.masterPort === REDIS_PORT;

/** A replica that the guard or an earlier pass told to wait. */
export const isWaiting = (pod: AnsweringPod): boolean =>
  pod.facts.role === 'slave' && pod.facts.masterHost === WAITING_PRIMARY_HOST;

/** A replica that is linked to nobody and receives nothing: waiting, or left behind by a primary that is gone. */
export const isUnlinked = (pod: AnsweringPod): boolean =>
  pod.facts.role === 'slave' && pod.facts.linkUp !== true && !pod.facts.syncInProgress;

/** Sentinel is not to choose it: it started without the data it is to keep, and was not linked since. */
export const isHeldBack = ({ facts }: AnsweringPod): boolean =>
  facts.config['replica-priority'] === '0' && facts.role === 'slave' && facts.linkUp !== true;
