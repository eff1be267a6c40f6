import {ApplyCommandBase} from '../cli/apply-command.ts'
import {Args, Flags} from '../cli/oclif.ts'
import {applyFlags, planningFlags} from '../cli/stack-flags.ts'

export default class ApplyCommand extends ApplyCommandBase {
  static override summary = 'make the live state as declared, and prove it'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --auto-approve',
    '<%= config.bin %> <%= command.id %> shop.plan --approve 1f2e3d4c5b6a',
  ]
  static override args = {plan: Args.string({description: 'a plan saved with svcctl plan --out', ignoreStdin: true})}
  static override flags = {
    ...planningFlags,
    ...applyFlags,
    approve: Flags.string({summary: 'apply only the plan with this hash (at least 8 digits)', helpValue: '<hash>'}),
  }

  async run() {
    const {args, flags} = await this.parse(ApplyCommand)
    return args.plan === undefined ? this.applyStacks(flags, false) : this.applyFile(args.plan, flags)
  }
}
