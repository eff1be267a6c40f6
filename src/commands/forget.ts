import {durationFlag, yesFlag} from '../cli/parse/flags.ts'
import {objectWords} from '../cli/parse/object-words.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../cli/parse/stack-flags.ts'
import {StackCommand} from '../cli/stack-command.ts'

export default class ForgetCommand extends StackCommand {
  static override summary = 'remove objects from a ledger and leave them as they are, without a request'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache --stack shop',
    "<%= config.bin %> <%= command.id %> 'shop:null_resource.old_*' --yes",
  ]
  static override description =
    'The objects stay as they are, and svcctl no longer manages them. The next apply would adopt an object that is still declared, so this is refused without --anyway.'
  static override strict = false
  static override args = {
    address: Args.string({description: 'what is forgotten: address, name, remote id, or a pattern of these', ignoreStdin: true}),
  }
  static override flags = {
    ...stackFlags,
    ...stateFlag,
    ...yesFlag,
    anyway: Flags.boolean({summary: 'also objects that are still declared, or on their way from another ledger', helpGroup: 'SAFETY'}),
    'lock-timeout': durationFlag({summary: 'how long to wait while somebody else holds the lock', helpGroup: 'STACKS', default: 0}),
  }

  async run(): Promise<undefined> {
    const {argv, flags} = await this.parse(ForgetCommand)
    const words = objectWords(argv, ForgetCommand, this.id, 'address')
    const {stack: stacks = [], anyway = false, 'lock-timeout': lockTimeoutMs = 0} = flags
    const {forget, ownedDocument} = await import('../run/upkeep/state.ts')
    const desk = await this.openDesk(flags)
    try {
      const forgotten = await forget(desk, {
        stacks,
        words,
        anyway,
        lockTimeoutMs,
        confirm: owned => this.confirm(`Forget ${owned.map(it => `${it.stack}:${it.entry.address}`).join(', ')}?`, flags.yes),
      })
      const documents = forgotten.map(ownedDocument)
      await this.print(
        {forgotten: documents, requests: {used: 0}},
        {
          text: () => documents.map(it => `${it.stack}:${it.address} [${it.remoteId}]: forgotten; it stays as it is`).join('\n'),
        },
      )
    } finally {
      await desk.close()
    }
  }
}
