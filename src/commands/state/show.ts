import {Args} from '../../cli/parse/oclif.ts'
import {stackFlags, stateFlag} from '../../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../../cli/reading-stack-command.ts'
import {stateText} from '../../report/state-text.ts'

export default class StateShowCommand extends ReadingStackCommand {
  static override summary = 'show what a ledger remembers of one object, without a request'
  static override examples = [
    '<%= config.bin %> <%= command.id %> null_resource.cache --stack shop',
    '<%= config.bin %> <%= command.id %> shop:null_resource.cache --output json',
  ]
  static override args = {
    address: Args.string({description: 'address, name or remote id of the object', required: true, ignoreStdin: true}),
  }
  static override flags = {...stackFlags, ...stateFlag}

  protected async read(): Promise<undefined> {
    const {args, flags} = await this.parse(StateShowCommand)
    const {ownedDocument, showOwned, shownApplied} = await import('../../run/upkeep/state.ts')
    const desk = await this.openDesk(flags)
    try {
      const owned = await showOwned(desk, flags.stack ?? [], args.address)
      const {outputs, dependsOn} = owned.entry
      const resource = {...ownedDocument(owned), lastApplied: shownApplied(owned.entry), outputs: {...outputs}, dependsOn: [...dependsOn]}
      await this.print({resource, requests: {used: 0}}, {text: shown => stateText(shown())})
    } finally {
      await desk.close()
    }
  }
}
