import { encodeGlobalId } from '../../platform/graphql/index.ts';
import type { Project } from './access.model.ts';
import type { ProjectRow } from './access.repository.ts';

export const toProject = (row: ProjectRow): Project => ({
  id: encodeGlobalId('Project', row.id),
  name: row.name,
  createdAt: row.created_at,
});
