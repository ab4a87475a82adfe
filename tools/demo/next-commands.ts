import type { HubProcess } from '../fleet/hub-process.ts';
import type { DemoClusters } from './demo-clusters.ts';

export interface DemoResult {
  readonly hub: HubProcess;
  readonly clusters: DemoClusters;
  readonly namespace: string;
  readonly name: string;
  readonly totalSeconds: number;
}

/** What a person who just saw the demo succeed can do next. */
export function describeNextCommands({ hub, clusters, namespace, name, totalSeconds }: DemoResult): string {
  const kubeconfigs = clusters.members.map((member) => {
    const context = member.context === undefined ? '' : ` --context ${member.context}`;
    return `  kubectl --kubeconfig ${member.kubeconfigPath}${context} get arc,pods -n ${namespace}`;
  });
  return `
Atoll is up after ${totalSeconds} s, with ${namespace}/${name} Ready in ${clusters.members.map((each) => each.name).join(' and ')}.

GraphiQL   ${hub.apiUrl}/graphiql   (the hub's own CA: ${hub.caFile})
token      in ${hub.adminTokenFile}; in GraphiQL's headers: {"Authorization": "Bearer …"}

Try next:
  curl --cacert ${hub.caFile} -H "Authorization: Bearer $(cat ${hub.adminTokenFile})" -H 'content-type: application/json' \\
    -d '{"query":"{ fleetHealth { total ready } redisClusters { edges { node { name status { phase currentPrimary } } } } }"}' ${hub.apiUrl}/graphql
${kubeconfigs.join('\n')}
  kill a pod there and watch it come back; the hub's log is ${hub.logFile}

Ctrl-C ends it all.`;
}
