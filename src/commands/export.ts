import {resolve} from 'node:path'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {bothApisFlags, durationFlag, wholeNumberFlag} from '../cli/parse/flags.ts'
import {objectWords} from '../cli/parse/object-words.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {StackCommand} from '../cli/stack-command.ts'
import {counted} from '../report/shown.ts'
import type {ExportDone} from '../run/export/export.ts'

export default class ExportCommand extends StackCommand {
  static override summary = 'write code that declares the live objects'
  static override description =
    'Sends GET requests only, and writes files (with --adopt ledger also ledgers). Then it synthesizes the written code and plans it over what was read: the plan adopts everything and changes nothing, or the command names the fields that differ.\nWHAT is cloud, cluster, subscription:NAME, or a remote path such as cloud/subscriptions/12; without it, everything.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dir infrastructure',
    '<%= config.bin %> <%= command.id %> subscription:orders --dir orders --adopt ledger',
    "<%= config.bin %> <%= command.id %> cloud --kinds '*' --output json",
    '<%= config.bin %> <%= command.id %> cloud --to terraform --dir terraform',
  ]
  static override strict = false
  static override args = {
    what: Args.string({description: 'cloud, cluster, subscription:NAME or remote path; all of these', ignoreStdin: true}),
  }
  static override flags = {
    ...bothApisFlags,
    to: Flags.option({
      summary: 'the language to write',
      helpGroup: 'EXPORT',
      options: ['typescript', 'json', 'terraform'] as const,
      default: 'typescript' as const,
    })(),
    dir: Flags.string({summary: 'empty folder to write into; without it, standard output', helpGroup: 'EXPORT', helpValue: '<dir>'}),
    kinds: Flags.string({summary: 'kinds by name or glob, with commas; all but cloud.acl_*', helpGroup: 'EXPORT', helpValue: '<list>'}),
    split: Flags.option({
      summary: 'a stack for each subscription, or one for all',
      helpGroup: 'EXPORT',
      options: ['subscription', 'none'] as const,
      default: 'subscription' as const,
    })(),
    tables: wholeNumberFlag({summary: 'write this many or more similar objects as a table; 0: never', helpGroup: 'EXPORT', default: 3}),
    adopt: Flags.option({
      summary: 'how the code takes the objects over: import blocks, ledgers that are written now, or not at all',
      helpGroup: 'EXPORT',
      options: ['blocks', 'ledger', 'none'] as const,
      default: 'blocks' as const,
    })(),
    'all-fields': Flags.boolean({summary: 'also write fields that svcctl does not know', helpGroup: 'EXPORT'}),
    overwrite: Flags.boolean({summary: 'replace files of an earlier export that nobody edited', helpGroup: 'EXPORT'}),
    prove: Flags.boolean({
      summary: 'check the written code with a plan over what was read',
      helpGroup: 'EXPORT',
      default: true,
      allowNo: true,
    }),
    'lock-timeout': durationFlag({summary: 'how long to wait while somebody else holds the lock', helpGroup: 'EXPORT', default: 0}),
    'max-requests': wholeNumberFlag({summary: 'refuse to send more requests than this', helpGroup: 'CONNECTION', min: 0}),
  }

  #wrote = false

  override run() {
    return this.reading(() => this.#export())
  }

  protected override sayStopped(): void {
    if (!this.#wrote) super.sayStopped()
  }

  async #export() {
    const {argv, flags} = await this.parse(ExportCommand)
    const {to, dir, adopt, prove, kinds, 'max-requests': most} = flags
    if (adopt === 'ledger' && (dir === undefined || to !== 'typescript'))
      throw new UsageError('--adopt ledger needs the code that goes with the ledgers', ['Name the folder it goes into: --dir DIR.'])
    if (adopt === 'ledger' && !prove) throw new UsageError('--adopt ledger needs the proof', ['Leave --no-prove out.'])
    const [{exportLive}, {RequestAllowance}] = await Promise.all([
      import('../run/export/export.ts'),
      import('../transport/request-allowance.ts'),
    ])
    const done = await exportLive(
      {
        host: this.context,
        connect: api => this.connect(api, flags, {bothApis: true}),
        allowance: most === undefined ? undefined : new RequestAllowance(most),
        onWrite: () => {
          this.#wrote = true
        },
      },
      {
        what: objectWords(argv, ExportCommand, this.id),
        to,
        dir: dir === undefined ? undefined : resolve(this.context.cwd, dir),
        kinds: kinds?.split(',').map(it => it.trim()),
        split: flags.split,
        tables: flags.tables ?? 3,
        adopt,
        allFields: flags['all-fields'] ?? false,
        overwrite: flags.overwrite ?? false,
        prove,
        lockTimeoutMs: flags['lock-timeout'] ?? 0,
      },
    )
    this.#say(done, dir)
    if (to === 'json' && dir === undefined && !this.forPrograms) this.format = 'json'
    await this.print(asJson(done.document), {text: () => (dir === undefined ? done.text.trimEnd() : exportSummary(done, dir))})
    return done.exit
  }

  /** What somebody has to know beside the code. */
  #say({document, model}: ExportDone, dir: string | undefined): void {
    const {secrets, differs = [], proof, why, notRead} = document
    for (const {kind, remoteId, problems} of model.undeclarable)
      this.logger.warn(`${kind} ${remoteId} cannot be declared and is not in the code: ${problems.join('; ')}`)
    for (const {stack, address, action, reason, paths} of differs)
      this.logger.warn(
        `${stack === '' ? '' : `${stack}:`}${address}: ${action}, ${reason}${paths.length === 0 ? '' : ` (${paths.join(', ')})`}`,
      )
    if (proof === 'not run') this.logger.note(`not proven: ${why ?? 'nobody knows why'}`)
    if (notRead.length > 0)
      this.logger.note(
        `not read: ${notRead.map(it => `${it.kind} (${counted(it.requests, 'request')})`).join(', ')}; --kinds '*' reads them too`,
      )
    if (secrets.length === 0) return
    const more = secrets.length - MOST_NAMED
    this.logger.note(
      `needed once they are sent, and not before${dir === undefined ? '' : ' (secrets.env.example)'}: ${secrets.slice(0, MOST_NAMED).join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
    )
  }
}

/** Variables in one line: the document has them all. */
const MOST_NAMED = 20

function exportSummary({document, model}: ExportDone, dir: string): string {
  const counts = new Map<string, number>()
  for (const {kind} of document.objects) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const objects = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  return [
    `${dir}: ${counted(document.objects.length, 'object')} (${objects || 'none'}) in ${counted(model.stacks.length, 'stack')}`,
    `proof: ${document.proof}`,
    `requests: ${document.requests?.used ?? 0}`,
  ].join('\n')
}
