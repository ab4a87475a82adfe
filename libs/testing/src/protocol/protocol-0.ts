/**
 * An invented version 0 of the protocol, which stands for the previous one until a second version exists. After Welcome
 * its frames have other names for everything in the envelope, so that a side which does not really speak it is found
 * out at once. The frozen messages are those of version 1, as in every version. Never shipped.
 */
import { type AgentMessage, type Dialect, type FrameData, type HubMessage, PROTOCOL_1 } from '#protocol';
import { FROZEN_TYPES } from './frozen-messages.ts';

export interface CountedDialect extends Dialect {
  /** Messages that were written in it, by type; those that are the same in every version are not counted. */
  readonly written: Map<string, number>;
}

const frozen: ReadonlySet<string> = new Set([...FROZEN_TYPES, 'Refused', 'Enrol', 'EnrolPending', 'Enrolled']);

export function createProtocol0(): CountedDialect {
  const written = new Map<string, number>();
  return {
    version: 0,
    written,
    encode: (message) => {
      if (frozen.has(message.type)) return PROTOCOL_1.encode(message);
      written.set(message.type, (written.get(message.type) ?? 0) + 1);
      const { type, nonce, payload } = message;
      return JSON.stringify({ v0: { kind: type, id: nonce, body: payload } });
    },
    parseAgentFrame: (data, maxBytes) => PROTOCOL_1.parseAgentFrame(toVersion1(data), maxBytes),
    parseHubFrame: (data, maxBytes) => PROTOCOL_1.parseHubFrame(toVersion1(data), maxBytes),
  };
}

/** Counts what is written in version 1. */
export function createProtocol1(): CountedDialect {
  const written = new Map<string, number>();
  const encode = (message: AgentMessage | HubMessage): string => {
    written.set(message.type, (written.get(message.type) ?? 0) + 1);
    return PROTOCOL_1.encode(message);
  };
  return { ...PROTOCOL_1, encode, written };
}

/** A frame that is not of version 0 becomes one that nobody can read, unless it is frozen. */
function toVersion1(data: FrameData): string {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
  const frame = readJson(text);
  if (frame.v0 !== undefined)
    return JSON.stringify({ type: frame.v0.kind, nonce: frame.v0.id, payload: frame.v0.body });
  return frozen.has(frame.type ?? '') ? text : '';
}

interface Frame {
  readonly type?: string;
  readonly v0?: { readonly kind: string; readonly id: string; readonly body: unknown };
}

function readJson(text: string): Frame {
  try {
    return JSON.parse(text) as Frame;
  } catch {
    return {};
  }
}
