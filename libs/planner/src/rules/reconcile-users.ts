/**
 * Every server lets in exactly whom spec and credentials Secret name, with the passwords that are valid now, and logs in
 * at its peers with the current one. Asked of each server in each pass, so a new process, a password changed by hand, a
 * user removed from the spec and a rotation cut off anywhere are one and the same case. Removed users go at once: their
 * connections are closed by the server. Users that somebody made by hand are left alone; they end with the process.
 */
import type { Action } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findGoners, findUnsettledUsers, readCredentials, readServers } from '../read-credentials.ts';
import type { CredentialsView, ServerSeen } from '../read-credentials.ts';
import type { Rule } from '../rule.ts';

export const reconcileUsers: Rule = {
  name: 'reconcile-users',
  decide: ({ view, primary }) => {
    const credentials = readCredentials(view);
    if (credentials === undefined || !view.specUsable || !view.snapshot.credentialsPresent) return undefined;
    const servers = readServers(view);
    // Replicas and Sentinels before the primary, as with every other change.
    const ordered = [
      ...servers.filter(({ pod }) => pod !== primary?.name),
      ...servers.filter(({ pod }) => pod === primary?.name),
    ];
    const actions = [
      ...ordered.flatMap((server) => setUsers(view, credentials, server)),
      ...ordered.flatMap((server) => setLogin(view, server)),
    ];
    const [first] = actions;
    return first === undefined ? undefined : { reason: first.reason, message: first.message, actions };
  },
};

const setUsers = (view: ClusterView, credentials: CredentialsView, server: ServerSeen): Action[] => {
  const users = findUnsettledUsers(view, credentials, server);
  const remove = findGoners(view, server);
  if (users.length + remove.length === 0) return [];
  const what = [...users, ...remove.map((user) => `${user} (removed)`)].join(', ');
  return [
    {
      kind: 'SetUsers',
      pod: server.pod,
      component: server.component,
      users,
      remove,
      reason: 'UsersDiffer',
      message: `Setting users ${what} of ${server.pod}.`,
      disruptive: false,
    },
  ];
};

const setLogin = (view: ClusterView, server: ServerSeen): Action[] => {
  if (server.peerLoginCurrent !== false) return [];
  const told = {
    reason: 'LoginDiffers',
    message: `${server.pod} logs in at its peers with the current password.`,
    disruptive: false,
  };
  return [
    server.component === 'redis'
      ? { kind: 'SetReplicationLogin', pod: server.pod, ...told }
      : { kind: 'SetSentinelLogin', sentinelPod: server.pod, masterName: view.names.masterName, ...told },
  ];
};
