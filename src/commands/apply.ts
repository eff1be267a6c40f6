import {UsageError} from '../base/usage-error.ts'
import {ApplyCommandBase} from '../cli/apply-command.ts'
import {approvalFlag} from '../cli/parse/flags.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {reportFlags} from '../cli/parse/report-flags.ts'
import {applyFlags, commitFlags, HASH_LIFTS, planningFlags} from '../cli/parse/stack-flags.ts'

export default class ApplyCommand extends ApplyCommandBase {
  static override summary = 'make the live state match the declarations, and prove it'
  static override description = HASH_LIFTS
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --auto-approve',
    '<%= config.bin %> <%= command.id %> shop.plan --approve 1f2e3d4c5b6a',
    '<%= config.bin %> <%= command.id %> --resume',
  ]
  static override args = {
    plan: Args.string({description: 'a plan saved with svcctl plan --out; with --resume: the run', ignoreStdin: true}),
  }
  static override flags = {
    ...planningFlags,
    ...applyFlags,
    ...commitFlags,
    ...reportFlags,
    approve: approvalFlag({summary: 'apply only the plan with this hash (at least 12 digits), made from this commit (at least 8)'}),
    'approve-from': Flags.option({
      summary: 'apply only if a reviewer approved this commit there, after the comment showed this plan',
      helpGroup: 'SAFETY',
      options: ['github', 'gitlab'] as const,
      exclusive: ['approve', 'resume', 'attach'],
    })(),
    'safe-only': Flags.boolean({
      summary: 'do only what deletes nothing, risks nothing and no guard refuses; save the rest as a plan (exit 2)',
      helpGroup: 'SAFETY',
      exclusive: ['resume', 'attach'],
    }),
    'break-glass': Flags.string({
      summary: 'ignore holds and freezes that are not strict; the reason (10 characters or more) is written to the audit first',
      helpGroup: 'SAFETY',
      helpValue: '<reason>',
      exclusive: ['skip-held', 'attach'],
    }),
    resume: Flags.boolean({
      summary: 'finish the newest unfinished run of these ledgers, or the one that is named',
      exclusive: ['attach', 'approve'],
    }),
    attach: Flags.string({summary: 'wait for what this run has in flight, and start nothing', helpValue: '<run>'}),
  }

  async run() {
    const {args, flags} = await this.parse(ApplyCommand)
    const {approve, 'break-glass': why, ...others} = flags
    const breakGlass =
      why === undefined ? {} : {'break-glass': (await import('../run/apply/break-glass.ts')).breakingGlass(this.context, why)}
    const [hash, commit] = approve?.split('@') ?? []
    const given = {...others, ...breakGlass, approve: hash, approvedCommit: commit}
    return this.reporting('apply', flags, async () => {
      if (flags.attach !== undefined) {
        if (args.plan !== undefined) throw new UsageError('--attach takes a run and no plan', ['Leave the plan out.'])
        return this.attach(flags.attach, given)
      }
      if (flags.resume || args.plan !== undefined) assertWhole(flags)
      if (flags.resume) return this.resume(args.plan, given)
      return args.plan === undefined ? this.applyStacks(given, false) : this.applyFile(args.plan, given)
    })
  }
}

/** What was approved is carried out whole: an option that would leave part of it out would be passed over in silence. */
function assertWhole(flags: Readonly<Record<'target' | 'exclude' | 'accept', readonly string[] | undefined>>): void {
  const given = (['target', 'exclude', 'accept'] as const).filter(it => (flags[it]?.length ?? 0) > 0).map(it => `--${it}`)
  if (given.length > 0)
    throw new UsageError(`${given.join(', ')} cannot change a plan that is made already`, [
      `Plan again with ${given.join(' and ')}, and have the new plan approved.`,
    ])
}
