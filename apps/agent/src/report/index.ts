export { EventRecorder } from './event-recorder.ts';
export { describeAction } from './flight-recorder.ts';
export { Reporter } from './reporter.ts';
export type { PassToReport } from './reporter.ts';
export { StatusFeed } from './status-feed.ts';
export type { ReportedEvent, StatusReport } from './status-feed.ts';
export { StatusWriter } from './write-status.ts';
