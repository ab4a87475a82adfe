/** Public face of authentication and authorisation. */
export { AuthModule } from './auth.module.ts';
export { AuthenticationService, TooManyUnknownTokens } from './authentication.service.ts';
export { hashToken, LEAST_TOKEN_LENGTH, MOST_TOKEN_LENGTH, readBearerToken, TOKEN_CHARACTER } from './bearer-token.ts';
export { clientAddressOf, trustProxies } from './client-address.rules.ts';
export {
  hasFleetRole,
  hasRole,
  hasRoleAnywhere,
  mayRead,
  visibleProjects,
  type Caller,
  type Role,
  type Viewer,
} from './viewer.ts';
