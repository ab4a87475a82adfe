import { Module } from '@nestjs/common';

import { AgentListener } from './agent-listener.ts';

@Module({ providers: [AgentListener], exports: [AgentListener] })
export class AgentLinkModule {}
