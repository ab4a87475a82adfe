export { EventRecorder } from './event-recorder.ts';
export { Reporter } from './reporter.ts';
export { ReportFeed } from './report-feed.ts';
export { StatusWriter } from './write-status.ts';
