/** Public face of access: projects, and whom a token stands for. */
export { Project } from './access.model.ts';
export { ProjectLoader } from './project.loader.ts';
export { AccessResolver } from './access.resolver.ts';
