import { describe, expect, it } from 'vitest';
import type { MaintenanceWindow } from '#domain';
import { findMaintenanceWindow } from './find-maintenance-window.ts';

const at = (text: string): number => Date.parse(text);
const stateAt = (window: MaintenanceWindow | readonly MaintenanceWindow[], text: string): string => {
  const state = findMaintenanceWindow(Array.isArray(window) ? window : [window as MaintenanceWindow], at(text));
  const edge = state.open ? state.closesAtMs : state.opensAtMs;
  return `${state.open ? 'open until' : 'opens'} ${edge === undefined ? 'never' : new Date(edge).toISOString()}`;
};
const BERLIN = { start: '02:30', duration: '1h', timeZone: 'Europe/Berlin' };

describe('findMaintenanceWindow', () => {
  it('is open from its start to its end, in UTC without a time zone', () => {
    const window = { start: '02:00', duration: '2h' };
    expect(stateAt(window, '2026-06-01T01:59:59Z')).toBe('opens 2026-06-01T02:00:00.000Z');
    expect(stateAt(window, '2026-06-01T02:00:00Z')).toBe('open until 2026-06-01T04:00:00.000Z');
    expect(stateAt(window, '2026-06-01T04:00:00Z')).toBe('opens 2026-06-02T02:00:00.000Z');
  });

  it('goes over midnight on the day it began', () => {
    const window = { days: ['Sat'], start: '23:00', duration: '4h' };
    expect(stateAt(window, '2026-06-07T02:00:00Z')).toBe('open until 2026-06-07T03:00:00.000Z');
    expect(stateAt(window, '2026-06-07T03:00:00Z')).toBe('opens 2026-06-13T23:00:00.000Z');
  });

  it('takes the day of the time zone, not that of UTC', () => {
    const window = { days: ['Mon'], start: '08:00', duration: '1h', timeZone: 'Pacific/Auckland' };
    expect(stateAt(window, '2026-06-07T19:59:00Z')).toBe('opens 2026-06-07T20:00:00.000Z');
    expect(stateAt(window, '2026-06-07T20:30:00Z')).toBe('open until 2026-06-07T21:00:00.000Z');
  });

  it('follows summer time: the same hour on the wall is another instant', () => {
    expect(stateAt(BERLIN, '2026-01-15T00:00:00Z')).toBe('opens 2026-01-15T01:30:00.000Z');
    expect(stateAt(BERLIN, '2026-07-15T00:00:00Z')).toBe('opens 2026-07-15T00:30:00.000Z');
  });

  it('where the clock is put forward over its start, it begins with the hour that exists', () => {
    expect(stateAt(BERLIN, '2026-03-29T00:00:00Z')).toBe('opens 2026-03-29T01:30:00.000Z');
    expect(stateAt(BERLIN, '2026-03-29T01:45:00Z')).toBe('open until 2026-03-29T02:30:00.000Z');
  });

  it('where the hour comes twice, it opens once, and no longer than it says', () => {
    expect(stateAt(BERLIN, '2026-10-25T00:00:00Z')).toBe('opens 2026-10-25T00:30:00.000Z');
    expect(stateAt(BERLIN, '2026-10-25T01:15:00Z')).toBe('open until 2026-10-25T01:30:00.000Z');
    expect(stateAt(BERLIN, '2026-10-25T01:45:00Z')).toBe('opens 2026-10-26T01:30:00.000Z');
  });

  it('of several the nearest opens, and of those that are open the last closes', () => {
    const windows = [
      { start: '02:00', duration: '2h' },
      { start: '03:00', duration: '3h' },
    ];
    expect(stateAt(windows, '2026-06-01T03:30:00Z')).toBe('open until 2026-06-01T06:00:00.000Z');
    expect(stateAt(windows, '2026-06-01T01:00:00Z')).toBe('opens 2026-06-01T02:00:00.000Z');
  });

  it('reads an unknown time zone as UTC, and never opens what has no length', () => {
    expect(stateAt({ start: '02:00', duration: '1h', timeZone: 'Mars/Base' }, '2026-06-01T02:30:00Z')).toMatch(/^open/);
    expect(stateAt({ start: '02:00', duration: 'soon' }, '2026-06-01T02:30:00Z')).toBe('opens never');
  });
});
