// The simulator's process: takes its settings and commands over the channel of its parent, and ends with it.
import { SimulatedFleet } from './simulated-fleet.ts';
import { monotonicMs, type SimulatorCommand, type SimulatorEvent, type SimulatorSettings } from './messages.ts';

const tell = (event: SimulatorEvent): void => void process.send?.(event);

let fleet: SimulatedFleet | undefined;

const obey = (playing: SimulatedFleet, command: SimulatorCommand): void => {
  switch (command.do) {
    case 'dial':
      return playing.dial();
    case 'load':
      return playing.load(command.changesPerSecond);
    case 'flood':
      return playing.flood(command.agents);
    case 'reset':
      return playing.reset();
    case 'report':
      return tell({ is: 'report', report: playing.report() });
  }
};

process.on('disconnect', () => process.exit(0));
process.on('message', (message: SimulatorCommand | { readonly settings: SimulatorSettings }) => {
  if (!('settings' in message)) return fleet && obey(fleet, message);
  fleet = new SimulatedFleet(message.settings, (hubUid, hubGeneration) =>
    tell({ is: 'applied', hubUid, hubGeneration, atMs: monotonicMs() }),
  );
  tell({ is: 'ready' });
});
