import { Agent, fetch } from 'undici';

import type { TestHub } from './start-test-hub.ts';

/** The status of a GET without a token, such as that of `/readyz`. */
export async function lookAt(hub: TestHub, path: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: hub.runtime.tls.caCertificate } });
  const response = await fetch(`${hub.ready.apiUrl}${path}`, { dispatcher });
  await response.text();
  await dispatcher.close();
  return response.status;
}
