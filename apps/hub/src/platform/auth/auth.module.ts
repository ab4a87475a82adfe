import { Module } from '@nestjs/common';
import { AuthenticationRepository } from './authentication.repository.ts';
import { AuthenticationService } from './authentication.service.ts';

@Module({ providers: [AuthenticationRepository, AuthenticationService], exports: [AuthenticationService] })
export class AuthModule {}
