{{- define "atoll-hub.labels" -}}
app.kubernetes.io/name: atoll-hub
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: atoll
{{- end }}

{{- define "atoll-hub.selector" -}}
app.kubernetes.io/name: atoll-hub
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Where others reach the API and where agents dial, unless values say so. */}}
{{- define "atoll-hub.apiAddress" -}}
{{ .Values.publicApiAddress | default (printf "%s.%s.svc:%v" .Release.Name .Release.Namespace .Values.service.api.port) }}
{{- end }}
{{- define "atoll-hub.agentAddresses" -}}
{{ join "," .Values.publicAgentAddresses | default (printf "%s-agents.%s.svc:%v" .Release.Name .Release.Namespace .Values.service.agents.port) }}
{{- end }}

{{/* What the hub makes itself must outlive its pod, and all replicas must use the same. */}}
{{- define "atoll-hub.validate" -}}
{{- $all := and .Values.database.existingSecret .Values.tls.existingSecret .Values.adminToken.existingSecret }}
{{- if and (gt (int .Values.replicaCount) 1) (not $all) }}
{{- fail "replicaCount above 1 needs database.existingSecret, tls.existingSecret and adminToken.existingSecret" }}
{{- end }}
{{- if and (not .Values.persistence.enabled) (not $all) }}
{{- fail "without persistence.enabled the hub needs database.existingSecret, tls.existingSecret and adminToken.existingSecret" }}
{{- end }}
{{- if and (gt (int .Values.replicaCount) 1) .Values.persistence.enabled }}
{{- fail "replicaCount above 1 needs persistence.enabled=false: replicas keep nothing of their own" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.enabled needs ingress.host" }}
{{- end }}
{{- end }}
