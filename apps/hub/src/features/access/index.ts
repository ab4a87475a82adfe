/** Public face of access: projects, the first administrator, and whom a token stands for. */
export { AccessModule } from './access.module.ts';
export { Project } from './access.model.ts';
export type { ProjectRow } from './access.repository.ts';
export { AccessResolver } from './access.resolver.ts';
export { AccessService } from './access.service.ts';
export { ProjectLoader } from './project.loader.ts';
export { adminTokenFile, makeToken, overwriteToken, readAdminToken } from './admin-token-file.ts';
export { listTokens, type ListedToken } from './admin-tokens.repository.ts';
export { replaceAdminToken, revokeToken, type Replaced } from './change-tokens.ts';
