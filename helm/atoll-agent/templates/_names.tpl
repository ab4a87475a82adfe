{{- define "atoll-agent.labels" -}}
app.kubernetes.io/name: atoll-agent
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: atoll
{{- end }}

{{- define "atoll-agent.selector" -}}
app.kubernetes.io/name: atoll-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Cluster-wide names carry the namespace, so that two releases never share a right. */}}
{{- define "atoll-agent.clusterName" -}}
{{ .Release.Namespace }}-{{ .Release.Name }}
{{- end }}

{{/* Pods of every RedisCluster; the agent gives them these labels. */}}
{{- define "atoll-agent.redisPods" -}}
app.kubernetes.io/name: redis
app.kubernetes.io/part-of: atoll
{{- end }}

{{- define "atoll-agent.hubSecret" -}}
{{ .Values.hub.existingSecret | default (printf "%s-hub" .Release.Name) }}
{{- end }}

{{- define "atoll-agent.manageCrds" -}}
{{ and .Values.crds.manage (eq .Values.scope "cluster") }}
{{- end }}

{{/* A cluster-wide agent of named namespaces: it has rights in these alone. */}}
{{- define "atoll-agent.byNamespace" -}}
{{ and (eq .Values.scope "cluster") (gt (len (.Values.limits.namespaces | default list)) 0) }}
{{- end }}

{{/* What an agent does in a namespace that it serves. docs/reference/agent-rights.md says what it amounts to. */}}
{{- define "atoll-agent.namespacedRules" -}}
- apiGroups: [redis.atoll.dev]
  resources: [redisclusters]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [redis.atoll.dev]
  resources: [redisclusters/status, redisoperations/status]
  verbs: [get, patch]
# Those that ended are deleted beyond the history limit; nobody but people and the hub makes one.
- apiGroups: [redis.atoll.dev]
  resources: [redisoperations]
  verbs: [get, list, watch, delete]
- apiGroups: ['']
  resources: [pods]
  verbs: [get, list, watch, patch, delete]
# Restarts go through the Eviction API, so that disruption budgets count them.
- apiGroups: ['']
  resources: [pods/eviction]
  verbs: [create]
- apiGroups: ['']
  resources: [services, configmaps, serviceaccounts]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: ['']
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch, delete]
# By name only: never list or watch, which would hand over every Secret there is.
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, create, patch, delete]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
