/** Makes the context of a request from its headers. It never throws: a failure is part of the context, see request-guard.ts. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthenticationService, Caller } from '../auth/index.ts';
import { Loaders, type RequestContext } from './request-context.ts';

const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** A request id given by the client or a balancer is kept when it is harmless to log; else `newId` makes one. */
export function readRequestId(headers: IncomingHttpHeaders, newId: () => string): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
}

export async function readHttpContext(
  headers: IncomingHttpHeaders,
  newId: () => string,
  authentication: AuthenticationService,
): Promise<RequestContext> {
  const requestId = readRequestId(headers, newId);
  const loaders = new Loaders({ keep: true });
  return { requestId, loaders, ...(await identify(headers.authorization, requestId, authentication)) };
}

/** The context of a WebSocket; the token comes in connectionParams as `authorization`, or in the handshake's headers. */
export async function readSocketContext(
  authorization: unknown,
  requestId: string,
  authentication: AuthenticationService,
): Promise<RequestContext> {
  const loaders = new Loaders({ keep: false });
  return { requestId, loaders, authorization, ...(await identify(authorization, requestId, authentication)) };
}

async function identify(
  authorization: unknown,
  requestId: string,
  authentication: AuthenticationService,
): Promise<{ readonly caller?: Caller; readonly failure?: unknown }> {
  try {
    const viewer = await authentication.authenticate(authorization);
    return viewer ? { caller: { viewer, requestId } } : {};
  } catch (failure) {
    return { failure };
  }
}
