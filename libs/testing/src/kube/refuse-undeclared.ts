/** A definition that lacks a field of `status`: server-side apply refuses the whole status, until `clearFaults`. */
import type { FakeKubeServer } from './fake-kube-server.ts';

export function refuseUndeclared(server: FakeKubeServer, field: string): void {
  server.inject({
    when: ({ method, path, body }) => {
      if (method !== 'PATCH' || !path.endsWith('/status')) return false;
      return Object.hasOwn((JSON.parse(body) as { status?: object }).status ?? {}, field);
    },
    act: {
      kind: 'status',
      code: 500,
      reason: '',
      message: `failed to create typed patch object (x): .status.${field}: field not declared in schema`,
    },
    times: Infinity,
  });
}
