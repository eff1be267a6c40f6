/** Commands about stacks that change nothing: whoever stops one is told so, and what it had opened is given back. */
import type {ExitCode} from '../base/errors.ts'
import {endOnInterrupt} from './interrupt.ts'
import {StackCommand} from './stack-command.ts'

export abstract class ReadingStackCommand extends StackCommand {
  /** @returns the exit code when it is not 0 */
  protected abstract read(): Promise<ExitCode | undefined>

  async run(): Promise<ExitCode | undefined> {
    let stopping = false
    const off = endOnInterrupt(async usual => {
      stopping = true
      this.sayStopped()
      await this.opened?.close()
      return usual
    })
    try {
      return await this.read()
    } finally {
      // The process ends in a moment: what a closed connection breaks is nothing to tell.
      if (stopping) await new Promise<never>(() => {})
      off()
    }
  }
}
