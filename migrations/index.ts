import { Foundation1764460800000 } from './1764460800000-foundation.ts';
import { StatusDetails1764547200000 } from './1764547200000-status-details.ts';
import { StatusResume1764633700000 } from './1764633700000-status-resume.ts';
import { HealthRollups1764633800000 } from './1764633800000-health-rollups.ts';
import { ListIndexes1764633801000 } from './1764633801000-list-indexes.ts';
import { SlimmerChangeLog1764633802000 } from './1764633802000-slimmer-change-log.ts';
import { ModesOfAProject1764633803000 } from './1764633803000-modes-of-a-project.ts';
import { DeleteApprovals1764633900000 } from './1764633900000-delete-approvals.ts';
import { HeldDeletes1764633901000 } from './1764633901000-held-deletes.ts';
import { DatabaseObjectIds1764634100000 } from './1764634100000-database-object-ids.ts';
import { DeletesThatWait1764640100000 } from './1764640100000-deletes-that-wait.ts';
import { GuestNumbers1764640300000 } from './1764640300000-guest-numbers.ts';
import { DeletesNameTheirObject1764650000000 } from './1764650000000-deletes-name-their-object.ts';
import { DeletesOfWhatIsBack1764650000001 } from './1764650000001-deletes-of-what-is-back.ts';
import { BoundedKeys1764660000000 } from './1764660000000-bounded-keys.ts';
import { OwnersSetApart1764660000001 } from './1764660000001-owners-set-apart.ts';
import { AgentLimits1764660100000 } from './1764660100000-agent-limits.ts';
import { AgentsOverLimit1764660100001 } from './1764660100001-agents-over-limit.ts';
import { AuditAppendOnly1764660500000 } from './1764660500000-audit-append-only.ts';
import { TokenOrigins1764660501000 } from './1764660501000-token-origins.ts';

/** Every migration, oldest first. Never edited after release: a change is a new file at the end of this list. */
export const migrations = [
  Foundation1764460800000,
  StatusDetails1764547200000,
  StatusResume1764633700000,
  HealthRollups1764633800000,
  ListIndexes1764633801000,
  SlimmerChangeLog1764633802000,
  ModesOfAProject1764633803000,
  DeleteApprovals1764633900000,
  HeldDeletes1764633901000,
  DatabaseObjectIds1764634100000,
  DeletesThatWait1764640100000,
  GuestNumbers1764640300000,
  DeletesNameTheirObject1764650000000,
  DeletesOfWhatIsBack1764650000001,
  BoundedKeys1764660000000,
  OwnersSetApart1764660000001,
  AgentLimits1764660100000,
  AgentsOverLimit1764660100001,
  AuditAppendOnly1764660500000,
  TokenOrigins1764660501000,
];
