/**
 * The listener that agents have of their own (03): TLS, one WebSocket path, nothing else. Every other request is
 * answered 404, so that a browser or a probe at the wrong port learns nothing.
 */
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type HubRuntime, RUNTIME } from '../../platform/lifecycle/hub-runtime.ts';

@Injectable()
export class AgentListener implements BeforeApplicationShutdown {
  readonly server: Server;

  constructor(@Inject(RUNTIME) private readonly runtime: HubRuntime) {
    this.server = createServer({ cert: runtime.tls.certificate, key: runtime.tls.privateKey }, (_, response) => {
      response.writeHead(404).end();
    });
  }

  /** Resolves with the port, which the system chose when `port` is 0. */
  listen(port: number, address: string): Promise<number> {
    return new Promise((done, failed) => {
      this.server.once('error', failed);
      this.server.listen(port, address, () => done((this.server.address() as AddressInfo).port));
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await new Promise((done) => this.server.close(done));
  }
}
