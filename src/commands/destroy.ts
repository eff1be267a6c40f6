import {ApplyCommandBase} from '../cli/apply-command.ts'
import {applyFlags, planningFlags} from '../cli/stack-flags.ts'

export default class DestroyCommand extends ApplyCommandBase {
  static override summary = 'delete everything the stacks own'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --stack shop',
    "<%= config.bin %> <%= command.id %> --stack shop --allow-destroy '*' --auto-approve",
  ]
  static override flags = {...planningFlags, ...applyFlags}

  async run() {
    const {flags} = await this.parse(DestroyCommand)
    return this.applyStacks(flags, true)
  }
}
