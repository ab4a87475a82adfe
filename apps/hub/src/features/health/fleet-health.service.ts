import { Injectable } from '@nestjs/common';
import { visibleProjects, type Caller } from '../../platform/auth/index.ts';
import { encodeCursor, encodeGlobalId, isUuid, readPage } from '../../platform/graphql/index.ts';
import { FleetDimensions, type FleetDimension, type FleetHealth, type FleetHealthGroup } from './fleet-health.model.ts';
import { FleetHealthRepository, type FleetGroupRow } from './fleet-health.repository.ts';

/** Groups of one answer. Of the fleet's member clusters there may be many thousands; of other groups there rarely are. */
const GROUPS = { default: 250, max: 500 } as const;

export interface FleetHealthRequest {
  readonly groupBy: readonly FleetDimension[];
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

@Injectable()
export class FleetHealthService {
  constructor(private readonly repository: FleetHealthRepository) {}

  /** Counts over the projects that the caller may see, so that totals tell nothing of others. */
  async read({ groupBy, first, after }: FleetHealthRequest, caller: Caller): Promise<FleetHealth> {
    const dimensions = sortDimensions(groupBy);
    const page = readPage(first, after, (key) => readKey(key, dimensions) !== undefined, GROUPS);
    const key = page.after === undefined ? undefined : readKey(page.after, dimensions);
    const projects = visibleProjects(caller.viewer);
    const row = await this.repository.read({ dimensions, projects, size: page.size, ...(key ? { after: key } : {}) });
    const groups = row.groups.slice(0, page.size);
    const cursorOf = (group: FleetGroupRow | undefined): string | null =>
      group ? encodeCursor(JSON.stringify(dimensions.map((dimension) => group.key[dimension]))) : null;
    return {
      ...row.totals,
      groups: groups.map(toGroup),
      foldedAt: row.foldedAt,
      stale: row.stale,
      pageInfo: {
        hasNextPage: row.groups.length > page.size,
        hasPreviousPage: page.after !== undefined,
        startCursor: cursorOf(groups[0]),
        endCursor: cursorOf(groups.at(-1)),
      },
    };
  }
}

/** Each once; the member cluster first, since that is how its counts are kept and a page of them is read. */
function sortDimensions(groupBy: readonly FleetDimension[]): readonly FleetDimension[] {
  const given = new Set(groupBy);
  const first = FleetDimensions.MEMBER_CLUSTER;
  return given.delete(first) ? [first, ...given] : [...given];
}

/** The values of a cursor's key, when they are of these dimensions. */
function readKey(key: string, dimensions: readonly FleetDimension[]): readonly string[] | undefined {
  try {
    const values: unknown = JSON.parse(key);
    if (!Array.isArray(values) || values.length !== dimensions.length || dimensions.length === 0) return undefined;
    const fits = values.every((value, index) => isOf(dimensions[index], value));
    return fits ? (values as string[]) : undefined;
  } catch {
    return undefined;
  }
}

function isOf(dimension: FleetDimension | undefined, value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('\0')) return false;
  return dimension === FleetDimensions.PROJECT || dimension === FleetDimensions.MEMBER_CLUSTER ? isUuid(value) : true;
}

const NAME_OF = new Map<string, keyof typeof FleetDimensions>(
  Object.entries(FleetDimensions).map(([name, key]) => [key, name as keyof typeof FleetDimensions]),
);

function toGroup({ key, ...counts }: FleetGroupRow): FleetHealthGroup {
  const values = Object.entries(key).map(([dimension, value]) => [
    NAME_OF.get(dimension) ?? dimension,
    toPublicValue(dimension, value),
  ]);
  return { key: Object.fromEntries(values) as Record<string, string | null>, ...counts };
}

function toPublicValue(dimension: string, value: string): string | null {
  switch (dimension) {
    case FleetDimensions.PROJECT:
      return encodeGlobalId('Project', value);
    case FleetDimensions.MEMBER_CLUSTER:
      return encodeGlobalId('MemberCluster', value);
    case FleetDimensions.MODE:
    case FleetDimensions.PHASE:
      return toEnumName(value);
    case FleetDimensions.REGION:
      return value === '' ? null : value;
    default:
      return value;
  }
}

/** The custom resource's words as the schema's enums write them: `ActionRequired` → `ACTION_REQUIRED`. */
const toEnumName = (value: string): string => value.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
