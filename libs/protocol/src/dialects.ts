/**
 * The protocol versions that a side speaks, newest first, and which of them two sides choose (03 rule 14). Both name theirs in
 * frames that are frozen for ever, so even an agent of a year ago can be told that nothing is left in common. The
 * choice depends on the two lists alone: both sides come to the same one, whoever is newer.
 */
import { encodeFrame, type FrameData, parseAgentFrame, parseHubFrame, type ParseResult } from './frame.ts';
import type { AgentMessage, HubMessage } from './envelopes.ts';
import { PROTOCOL_VERSION } from './messages.ts';

/** How the messages after Welcome are written in one version. What is frozen is written as in version 1 by each. */
export interface Dialect {
  readonly version: number;
  encode(message: AgentMessage | HubMessage): string;
  /** Never throws. */
  parseAgentFrame(data: FrameData, maxBytes?: number): ParseResult<AgentMessage>;
  /** Never throws. */
  parseHubFrame(data: FrameData, maxBytes?: number): ParseResult<HubMessage>;
}

export const PROTOCOL_1: Dialect = { version: PROTOCOL_VERSION, encode: encodeFrame, parseAgentFrame, parseHubFrame };

/** The current version, and the previous one once there is one. */
export const SPOKEN_DIALECTS: readonly Dialect[] = [PROTOCOL_1];

export const versionsOf = (dialects: readonly Dialect[]): readonly number[] => dialects.map(({ version }) => version);

/** The highest version that both sides speak; undefined when there is none. */
export function chooseDialect(ours: readonly Dialect[], theirs: readonly number[]): Dialect | undefined {
  return ours
    .filter(({ version }) => theirs.includes(version))
    .reduce<Dialect | undefined>((best, each) => (best && best.version > each.version ? best : each), undefined);
}
