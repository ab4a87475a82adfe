import { Injectable } from '@nestjs/common';
import { visibleProjects, type Caller } from '../../platform/auth/index.ts';
import { encodeGlobalId } from '../../platform/graphql/index.ts';
import { FleetDimensions, type FleetDimension, type FleetHealth, type FleetHealthGroup } from './fleet-health.model.ts';
import { FleetHealthRepository, type FleetGroupRow } from './fleet-health.repository.ts';

@Injectable()
export class FleetHealthService {
  constructor(private readonly repository: FleetHealthRepository) {}

  /** Counts over the projects that the caller may see, so that totals tell nothing of others. */
  async read(groupBy: readonly FleetDimension[], caller: Caller): Promise<FleetHealth> {
    const dimensions = [...new Set(groupBy)];
    const projects = visibleProjects(caller.viewer);
    const [groups, foldedAt] = await Promise.all([
      this.repository.groups(dimensions, projects),
      this.repository.foldedAt(),
    ]);
    const sum = (of: (row: FleetGroupRow) => number): number => groups.reduce((total, row) => total + of(row), 0);
    return {
      total: sum((row) => row.total),
      ready: sum((row) => row.ready),
      degraded: sum((row) => row.degraded),
      unknown: sum((row) => row.unknown),
      groups: dimensions.length === 0 ? [] : groups.map(toGroup),
      foldedAt,
    };
  }
}

const NAME_OF = new Map<string, keyof typeof FleetDimensions>(
  Object.entries(FleetDimensions).map(([name, key]) => [key, name as keyof typeof FleetDimensions]),
);

function toGroup(row: FleetGroupRow): FleetHealthGroup {
  const key = Object.entries(row.key).map(([dimension, value]) => [
    NAME_OF.get(dimension) ?? dimension,
    toPublicValue(dimension, value),
  ]);
  const { total, ready, degraded, unknown } = row;
  return { key: Object.fromEntries(key) as Record<string, string | null>, total, ready, degraded, unknown };
}

function toPublicValue(dimension: string, value: string | null): string | null {
  if (value === null) return null;
  switch (dimension) {
    case FleetDimensions.PROJECT:
      return encodeGlobalId('Project', value);
    case FleetDimensions.MEMBER_CLUSTER:
      return encodeGlobalId('MemberCluster', value);
    case FleetDimensions.MODE:
    case FleetDimensions.PHASE:
      return toEnumName(value);
    default:
      return value;
  }
}

/** The custom resource's words as the schema's enums write them: `ActionRequired` → `ACTION_REQUIRED`. */
const toEnumName = (value: string): string => value.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
