/** Makes the context of a request from its headers. It never throws: a failure is part of the context, see request-guard.ts. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthenticationService, Caller } from '../auth/index.ts';
import { sourceOf } from '../connections/address-source.rules.ts';
import { Loaders, type RequestContext } from './request-context.ts';

const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** A request id given by the client or a balancer is kept when it is harmless to log; else `newId` makes one. */
export function readRequestId(headers: IncomingHttpHeaders, newId: () => string): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
}

/** `address`: where the request comes from. */
export async function readHttpContext(
  { headers, address }: { readonly headers: IncomingHttpHeaders; readonly address: string | undefined },
  newId: () => string,
  authentication: AuthenticationService,
): Promise<RequestContext> {
  const requestId = readRequestId(headers, newId);
  const loaders = new Loaders({ keep: true });
  const given = { authorization: headers.authorization, address };
  return { requestId, loaders, ...(await identify(given, requestId, authentication)) };
}

/** The context of a WebSocket; the token comes in connectionParams as `authorization`, or in the handshake's headers. */
export async function readSocketContext(
  given: Given,
  requestId: string,
  authentication: AuthenticationService,
): Promise<RequestContext> {
  const loaders = new Loaders({ keep: false });
  const { authorization } = given;
  return { requestId, loaders, authorization, ...(await identify(given, requestId, authentication)) };
}

interface Given {
  readonly authorization: unknown;
  readonly address: string | undefined;
}

async function identify(
  { authorization, address }: Given,
  requestId: string,
  authentication: AuthenticationService,
): Promise<{ readonly caller?: Caller; readonly failure?: unknown }> {
  try {
    const viewer = await authentication.authenticate(authorization, sourceOf(address));
    return viewer ? { caller: { viewer, requestId } } : {};
  } catch (failure) {
    return { failure };
  }
}
