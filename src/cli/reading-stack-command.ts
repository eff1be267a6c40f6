/** Commands about stacks that change nothing: whoever stops one is told so, and what it had opened is given back. */
import type {ExitCode} from '../base/errors.ts'
import {StackCommand} from './stack-command.ts'

export abstract class ReadingStackCommand extends StackCommand {
  /** @returns the exit code when it is not 0 */
  protected abstract read(): Promise<ExitCode | undefined>

  run(): Promise<ExitCode | undefined> {
    return this.reading(() => this.read())
  }
}
