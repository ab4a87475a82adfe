import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** End after success instead of staying up. */
  readonly exit: boolean;
  /** Print the summary as JSON on stdout; progress goes to stderr. */
  readonly json: boolean;
  /** Clusters that exist; otherwise two local ones are started. */
  readonly kubeconfig?: string;
  readonly contexts: readonly string[];
  readonly agentImage?: string;
  readonly hubAddress?: string;
}

export const USAGE = `npm run demo -- [--exit] [--json]
npm run demo -- --kubeconfig FILE --context A [--context B] --agent-image REPOSITORY:TAG --hub-address HOST [--exit] [--json]
  --exit          end after success, with a summary
  --json          print the summary as JSON
  --kubeconfig    use clusters that exist, one member cluster for each --context
  --agent-image   an image of the agent that those clusters can pull (default for clusters of npm run local-kubernetes)
  --hub-address   host name or address under which their pods reach this machine (default likewise)`;

/** @throws with a sentence for the user when the options do not fit together */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      exit: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
      context: { type: 'string', multiple: true, default: [] },
      'agent-image': { type: 'string' },
      'hub-address': { type: 'string' },
    },
  });
  const { kubeconfig, context: contexts, exit, json } = values;
  if (kubeconfig === undefined && contexts.length > 0)
    throw new Error('--context names a cluster of a --kubeconfig FILE; give that too');
  if (kubeconfig !== undefined && contexts.length === 0)
    throw new Error('--kubeconfig needs at least one --context NAME');
  return {
    exit,
    json,
    contexts,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(values['agent-image'] === undefined ? {} : { agentImage: values['agent-image'] }),
    ...(values['hub-address'] === undefined ? {} : { hubAddress: values['hub-address'] }),
  };
}
