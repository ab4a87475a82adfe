/**
 * Who may send a body to /graphql, decided from the head of the request. Without a valid token nothing of a body is read,
 * except a short one where introspection is open to all.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError, unauthenticated } from './api-error.ts';
import type { RequestContext } from './request-context.ts';
import { refuseUnseen } from './request-guard.ts';

/** Of an introspection; those of common tools are 2 to 3 KiB. */
const MAX_OPEN_BYTES = 16 * 1024;
/** A refused body of this size is still read, unlooked at, so that its sender gets the answer and may use the connection. */
const MAX_SKIPPED_BYTES = 64 * 1024;

export interface Admission {
  readonly contextOf: (request: FastifyRequest) => Promise<RequestContext>;
  readonly openIntrospection: boolean;
  /** A valid token came. */
  readonly onKnown: (request: FastifyRequest) => void;
}

export const admitRequest =
  ({ contextOf, openIntrospection, onKnown }: Admission) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const bytes = sizeOf(request);
    try {
      refuseForgeable(request, reply);
      const context = await contextOf(request);
      if (context.caller) return onKnown(request);
      refuseUnseen(context);
      if (!openIntrospection || bytes > MAX_OPEN_BYTES) throw unauthenticated();
    } catch (error) {
      if (bytes > MAX_SKIPPED_BYTES) void reply.header('connection', 'close');
      throw error;
    }
  };

/** Queries come by POST with a JSON body: a page of another origin cannot send that without a preflight. */
function refuseForgeable({ method, headers }: FastifyRequest, reply: FastifyReply): void {
  if (method !== 'POST') {
    void reply.header('allow', 'POST');
    throw new ApiError('METHOD_NOT_ALLOWED', 'Send queries by POST with a JSON body.');
  }
  if (headers['content-type']?.startsWith('application/json')) return;
  throw new ApiError('CSRF_BLOCKED', 'Send queries by POST with "content-type: application/json".');
}

/** Infinity: in chunks, of which nobody knows how many come. */
const sizeOf = ({ headers }: FastifyRequest): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
