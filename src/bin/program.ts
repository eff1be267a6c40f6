/** What every call loads that does more than say its version. */
import {flushed, main} from '../cli/main.ts'
import {processStreams} from '../cli/show/process-streams.ts'
import {sayStandingLocks} from '../cli/show/standing-locks.ts'
import {makeThreadsFor} from '../config/thread-pool.ts'
import {commandTable} from './command-list.ts'
import {closeGoneTerminals} from './gone-terminals.ts'

export async function run(argv: readonly string[], version: string): Promise<never> {
  makeThreadsFor()
  closeGoneTerminals()
  const output = processStreams()
  const code = await main({argv, table: commandTable, version, overrides: {streams: output.streams}, site: process})
  sayStandingLocks()
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  // Sockets kept open for the next request must not keep the process.
  process.exit(output.exitCode(code))
}
