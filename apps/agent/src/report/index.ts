export { EventRecorder } from './event-recorder.ts';
export { PodReadings } from './pod-readings.ts';
export type { PodReading } from './pod-readings.ts';
export { OperationReporter } from './operation-reporter.ts';
export { Reporter } from './reporter.ts';
export { ReportFeed } from './report-feed.ts';
export { StatusWriter } from './write-status.ts';
