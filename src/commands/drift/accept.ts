import {asJson} from '../../base/json.ts'
import {shellWord} from '../../base/shell-word.ts'
import {bothApisFlags} from '../../cli/parse/flags.ts'
import {objectWords} from '../../cli/parse/object-words.ts'
import {Args, Flags} from '../../cli/parse/oclif.ts'
import {ledgerFlags, stackFlags} from '../../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../../cli/reading-stack-command.ts'
import {acceptedText} from '../../report/drift-text.ts'

export default class DriftAcceptCommand extends ReadingStackCommand {
  static override summary = 'accept drift until a date, for a reason'
  static override description =
    'Writes the current values into a baseline file. "svcctl drift --baseline FILE" does not count these values as drift; any other value counts again. apply does not read the baseline.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache --until 14d --reason "scaled up for the sale"',
    "<%= config.bin %> <%= command.id %> 'shop/cache#/memoryLimitInGb' --until 2026-12-24T00:00:00Z --reason SHOP-4711 --by ada@example.com",
    "<%= config.bin %> <%= command.id %> 'null_resource.cache#/throughputMeasurement' --any --until 30d --reason autoscaled",
  ]
  static override strict = false
  static override args = {
    address: Args.string({description: 'object, or object#/path of one field', ignoreStdin: true}),
  }
  static override flags = {
    ...bothApisFlags,
    ...stackFlags,
    state: ledgerFlags.state,
    until: Flags.string({summary: 'end: 14d, or a time (2026-12-24T00:00:00Z); at most 180 days', helpValue: '<when>', required: true}),
    reason: Flags.string({summary: 'why it is accepted', helpValue: '<text>', required: true}),
    by: Flags.string({summary: "who accepts it (default: the CI job's actor, else user@host)", helpValue: '<name>'}),
    baseline: Flags.string({summary: 'file to write (default: drift-baseline.json)', helpValue: '<file>'}),
    any: Flags.boolean({summary: 'accept every later value of these fields, too'}),
    'max-requests': ledgerFlags['max-requests'],
    reserve: ledgerFlags.reserve,
  }

  protected async read(): Promise<undefined> {
    const {argv, flags} = await this.parse(DriftAcceptCommand)
    const words = objectWords(argv, DriftAcceptCommand, this.id, 'address')
    const [{acceptance, acceptDrift}, {USUAL_BASELINE}] = await Promise.all([
      import('../../run/plan/accept-drift.ts'),
      import('../../run/plan/drift-baseline.ts'),
    ])
    const {until, reason, by, any = false, baseline: file = USUAL_BASELINE} = flags
    const how = acceptance(this.context, {until, reason, by})
    const loaded = await this.readDeclarations(flags, 'validate')
    const done = await this.inWorkspace(loaded, flags, 'plan', async workspace => ({
      ...(await acceptDrift(workspace, {words, file, any, ...how})),
      requests: {used: workspace.usedRequests()},
    }))
    await this.print(asJson(done), {text: () => acceptedText(done)})
    this.logger.note(`from now on: svcctl drift --baseline ${shellWord(file)}`)
  }
}
