import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {asJson} from '../../base/json.ts'
import {objectWords} from '../../cli/parse/object-words.ts'
import {Args, Flags} from '../../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../../cli/reading-stack-command.ts'
import {paintFor} from '../../cli/shell/context.ts'
import {auditText} from '../../report/audit-text.ts'

export default class AuditVerifyCommand extends ReadingStackCommand {
  static override summary = 'check that nobody altered the audits, without a request'
  static override description =
    'Checks that every line is unchanged and follows the one before it, up to the last line that the ledger knows. Lines that only other machines have are listed; they are no error. Exit 1 names the first line that was altered, is missing, was moved or was cut off.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --head 4f3a9c21d0be',
    '<%= config.bin %> <%= command.id %> runner-1/shop.jsonl runner-2/shop.jsonl',
  ]
  static override strict = false
  static override args = {
    file: Args.string({
      description: 'files of audits, of one stack from several machines too; none: those of the stacks',
      ignoreStdin: true,
    }),
  }
  static override flags = {
    ...stackFlags,
    ...stateFlag,
    head: Flags.string({summary: 'hash of a line that must be there, as an apply printed it (at least 12 digits)', helpValue: '<hash>'}),
  }

  protected async read(): Promise<undefined> {
    const {argv, flags} = await this.parse(AuditVerifyCommand)
    const files = objectWords(argv, AuditVerifyCommand, this.id)
    const {verifyAudits} = await import('../../run/history/audit-verify.ts')
    // Files may be looked at where nothing else is; ledgers that lie there count all the same.
    const isAlone = files.length > 0 && flags['synth-dir'] === undefined && !existsSync(join(this.context.cwd, 'cdktf.json'))
    const desk = isAlone ? await this.openDeskOfFolder() : await this.openDesk(flags)
    try {
      const chains = await verifyAudits(desk, {files, stacks: flags.stack ?? [], head: flags.head})
      await this.print(asJson({chains}), {text: () => auditText(chains, paintFor(this.context.streams.stdout, this.context.environment))})
    } finally {
      await desk.close()
    }
  }
}
