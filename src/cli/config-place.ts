/** The configuration file as this process edits it. */
import {hostname} from 'node:os'
import {holderState, processIdentityOf} from '../base/process-lock.ts'
import type {ConfigPlace} from '../config/config-lock.ts'
import type {Context} from './shell/context.ts'

export function configPlace({environment, clock, random}: Pick<Context, 'environment' | 'clock' | 'random'>): ConfigPlace {
  const host = hostname()
  return {
    file: environment.configFile,
    clock,
    random,
    process: processIdentityOf(host, process.pid),
    stateOf: holder => holderState(holder, host),
  }
}
