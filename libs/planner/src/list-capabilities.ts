/**
 * status.capabilities: what can be asked of this data set, from its mode, its volumes and the engine that runs. For user
 * interfaces, which show a button only for what is there. Stable names in CamelCase, sorted; nothing is decided from them.
 */
import type { ResolvedSpec } from '#domain';

export interface CapabilityInput {
  readonly spec: ResolvedSpec;
  /** Of the confirmed primary; undefined while nobody has told it. */
  readonly engineVersion: string | undefined;
}

type Test = (input: CapabilityInput) => boolean;

const ALWAYS: Test = () => true;
const isReplicated: Test = ({ spec }) => spec.size > 1;
const hasVolumes: Test = ({ spec }) => spec.storage.type === 'PersistentVolume';

/** The line from which on each engine has it; an engine that is not named never does. */
const since =
  (lines: Partial<Record<ResolvedSpec['engine']['type'], readonly [major: number, minor: number]>>): Test =>
  ({ spec, engineVersion }) => {
    const line = lines[spec.engine.type];
    const [major = 0, minor = 0] = (engineVersion ?? '').split('.').map(Number);
    return line !== undefined && (major > line[0] || (major === line[0] && minor >= line[1]));
  };

const CAPABILITIES: Readonly<Record<string, Test>> = {
  AclUsers: ALWAYS,
  CredentialRotation: ALWAYS,
  Fencing: ALWAYS,
  LiveConfiguration: ALWAYS,
  Metrics: ({ spec }) => spec.exporter,
  Failover: isReplicated,
  Switchover: isReplicated,
  SentinelFailover: ({ spec }) => spec.mode === 'Sentinel',
  Hibernation: hasVolumes,
  FinalSnapshot: hasVolumes,
  VolumeGrowth: hasVolumes,
  Functions: since({ Redis: [7, 0], Valkey: [7, 2] }),
  HashFieldExpiration: since({ Redis: [7, 4], Valkey: [9, 0] }),
};

export const listCapabilities = (input: CapabilityInput): readonly string[] =>
  Object.entries(CAPABILITIES)
    .filter(([, test]) => test(input))
    .map(([name]) => name)
    .sort();
