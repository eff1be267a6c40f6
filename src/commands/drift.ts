import {EXIT, type ExitCode} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {bothApisFlags} from '../cli/parse/flags.ts'
import {Flags} from '../cli/parse/oclif.ts'
import {selectionOf} from '../cli/parse/plan-options.ts'
import {reportFlags} from '../cli/parse/report-flags.ts'
import {selectionFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {paintFor} from '../cli/shell/context.ts'
import type {StackFlagValues} from '../cli/stack-command.ts'
import {driftTable, driftText} from '../report/drift-text.ts'

interface DriftFlagValues extends StackFlagValues, Partial<Record<'target' | 'exclude', readonly string[] | undefined>> {
  readonly baseline?: string | undefined
}

export default class DriftCommand extends ReadingStackCommand {
  static override summary = 'show what somebody changed since the last apply'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --output json',
    '<%= config.bin %> <%= command.id %> --baseline drift-baseline.json',
  ]
  static override flags = {
    ...bothApisFlags,
    ...stackFlags,
    ...selectionFlags,
    ...reportFlags,
    baseline: Flags.string({summary: 'what is accepted for now, as svcctl drift accept wrote it', helpValue: '<file>'}),
  }

  protected async read() {
    const {flags} = await this.parse(DriftCommand)
    return this.reporting('drift', flags, () => this.#drift(flags))
  }

  async #drift(flags: DriftFlagValues): Promise<ExitCode> {
    const [{readDrift}, {judgedBy}] = await Promise.all([import('../run/plan/drift.ts'), import('../run/plan/judged-drift.ts')])
    // What was applied is compared, not what is declared: nobody has to know the secrets for it.
    const loaded = await this.readDeclarations(flags, 'validate')
    const {report, unchanged, used} = await this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const judge = await judgedBy(workspace, {stdin: this.context.streams.stdin, file: flags.baseline})
      const reading = await readDrift(workspace, selectionOf(flags))
      return {...reading, report: judge(reading), used: workspace.usedRequests()}
    })
    if (this.reports !== undefined) {
      const {driftReport} = await import('../report/document/of-drift.ts')
      const stacks = loaded.stacks.map(it => it.name)
      const written = new Map(
        loaded.stacks
          .flatMap(it => it.declarations)
          .flatMap(({key, source}) =>
            source.file === undefined ? [] : [[key, source.line === undefined ? source.file : `${source.file}:${source.line}`] as const],
          ),
      )
      this.reports.learn(frame => driftReport(frame, report, {stacks, unchanged, used, written}))
    }
    const {drifted, unseen = []} = report
    if (this.format === 'table' && drifted.length + unseen.length === 0) this.logger.note('no drift')
    await this.print(asJson(report), {
      table: widest => driftTable(report, widest),
      text: () => driftText(report, loaded.stacks.length > 1, paintFor(this.context.streams.stdout, this.context.environment)),
    })
    return drifted.length > 0 ? EXIT.changes : unseen.length > 0 ? EXIT.partial : EXIT.ok
  }
}
