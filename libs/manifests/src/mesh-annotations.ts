/**
 * What a pod tells the mesh that injects a sidecar. Redis' and Sentinel's ports bypass the sidecar in both directions:
 * through it every peer would be seen as 127.0.0.6, a refused connection as an accepted one, and a frozen process as a
 * living one (redis-operators 27). The container waits for the sidecar, since the startup guard needs DNS at once.
 * Source of the names: istio.io, Resource Annotations.
 */
import { REDIS_PORT, SENTINEL_PORT, type ResolvedSpec } from '#domain';

const PORTS = `${REDIS_PORT},${SENTINEL_PORT}`;

/** Empty without a mesh, so that the pod template stays as it was. */
export const meshAnnotations = ({ mesh }: Pick<ResolvedSpec, 'mesh'>): Readonly<Record<string, string>> =>
  mesh === 'Istio'
    ? {
        'traffic.sidecar.istio.io/excludeInboundPorts': PORTS,
        'traffic.sidecar.istio.io/excludeOutboundPorts': PORTS,
        'proxy.istio.io/config': '{"holdApplicationUntilProxyStarts":true}',
      }
    : {};
