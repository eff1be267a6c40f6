import {ApplyCommandBase} from '../cli/apply-command.ts'
import {reportFlags} from '../cli/parse/report-flags.ts'
import {applyFlags, destroyFlags, HASH_LIFTS, savedPlanFlags} from '../cli/parse/stack-flags.ts'

export default class DestroyCommand extends ApplyCommandBase {
  static override summary = 'delete everything the stacks own'
  static override description = HASH_LIFTS
  static override examples = [
    '<%= config.bin %> <%= command.id %> --stack shop',
    "<%= config.bin %> <%= command.id %> --stack shop --allow-destroy '*' --auto-approve",
    "<%= config.bin %> <%= command.id %> --stack shop --allow-destroy '*' --out gone.plan",
  ]
  static override flags = {...destroyFlags, ...applyFlags, ...savedPlanFlags, ...reportFlags}

  async run() {
    const {flags} = await this.parse(DestroyCommand)
    return this.reporting('destroy', flags, () =>
      flags.out === undefined ? this.applyStacks(flags, true) : this.reading(() => this.makePlan(flags, true)),
    )
  }
}
